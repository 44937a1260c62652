"""Finding out whether the module of the library is on disk, before a reboot is worth it."""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_state import next_boot
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The question to the kernel that boots next."""
    driver = context.node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState) or not isinstance(driver.library, str):
        return None
    kernel = next_boot(driver).kernel
    text = (
        f"find out whether kernel {kernel} has module {driver.library}"
        f" (modinfo -k {kernel} -F version nvidia); if it has, reboot"
    )
    return Remedy("confirm-module", Repair.MANUAL, text)
