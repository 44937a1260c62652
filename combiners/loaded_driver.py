"""The driver of a node whose nvidia module is loaded, for the checks that judge what it drives."""

from __future__ import annotations

from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT, NvidiaDriverState
from pyinfra_nvml.model.finding import NotApplicable, Undetermined
from pyinfra_nvml.model.unknown import Unknown


def loaded_driver(node: NodeState) -> NvidiaDriverState | Undetermined | NotApplicable:
    """The driver, or what a check has to say where there is none to judge."""
    driver = node.nvidia_driver
    if driver is None:
        return NotApplicable(ABSENT)
    if isinstance(driver, Unknown):
        return Undetermined("driver", driver.reason)
    if isinstance(driver.loaded, Unknown):
        return Undetermined("loaded module", driver.loaded.reason)
    if driver.loaded is None:
        return NotApplicable("no nvidia module is loaded")
    return driver
