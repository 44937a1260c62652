"""What NVIDIA's loaded module said in the kernel log, for the checks that read it."""

from __future__ import annotations

from audit.finding import Doubt, NotApplicable
from facts.node import NodeState
from facts.nvidia_log import NvidiaLog
from facts.unknown import Unknown


def kernel_log(node: NodeState) -> NvidiaLog | Doubt | NotApplicable:
    """The lines of this boot, or what a check has to say where there are none to judge."""
    driver = node.driver
    if driver is None:
        return NotApplicable("no NVIDIA driver, device or library on this node")
    if isinstance(driver, Unknown):
        return Doubt("driver", driver.reason)
    if driver.loaded is None:
        return NotApplicable("no nvidia module is loaded")
    if isinstance(driver.log, Unknown):
        return Doubt("kernel log", driver.log.reason)
    return driver.log
