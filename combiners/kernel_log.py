"""What NVIDIA's loaded module said in the kernel log, for the checks that read it."""

from __future__ import annotations

from pyinfra_nvml.combiners.loaded_driver import loaded_driver
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_log import NvidiaLogState
from pyinfra_nvml.model.finding import NotApplicable, Undetermined
from pyinfra_nvml.model.unknown import Unknown


def kernel_log(node: NodeState) -> NvidiaLogState | Undetermined | NotApplicable:
    """The lines of this boot, or what a check has to say where there are none to judge."""
    driver = loaded_driver(node)
    if not isinstance(driver, NvidiaDriverState):
        return driver
    return (
        Undetermined("kernel log", driver.log.reason)
        if isinstance(driver.log, Unknown)
        else driver.log
    )
