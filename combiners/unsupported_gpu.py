"""A GPU that this node's nvidia module does not drive by design, and the module that would."""

from __future__ import annotations

from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_log import IgnoredGpu, NvidiaLogState
from pyinfra_nvml.facts.nvidia_module import Flavour, NvidiaModuleState


def unsupported_gpu(driver: NvidiaDriverState, slot: str = "") -> IgnoredGpu | None:
    """A GPU that the module in memory does not drive; ``None`` where it does not say so.

    Of one GPU where its ``slot`` is given: a name in the log may be any GPU's. What the kernel log
    has from before another module was loaded does not count.
    """
    log = driver.log
    for one in log.ignored if isinstance(log, NvidiaLogState) else ():
        if not _mended(driver, one) and not (slot and one.gpu[:1].isdigit() and one.gpu != slot):
            return one
    return None


def why_ignored(driver: NvidiaDriverState, one: IgnoredGpu) -> str:
    """Why the module leaves this GPU alone."""
    if one.wants == "open":
        return (
            f"GPU {one.gpu} works with NVIDIA's open kernel module alone (Blackwell and newer),"
            " and this is the proprietary one"
        )
    if one.wants == "proprietary":
        return (
            f"the open kernel module finds no GSP on GPU {one.gpu}: it is older than Turing"
            " (Maxwell, Pascal, Volta), or does not answer"
        )
    return (
        f"driver {_version(driver)} ignores the {one.gpu}: branch {one.wants} is the last that"
        " drives it"
    )


def _mended(driver: NvidiaDriverState, one: IgnoredGpu) -> bool:
    """Whether the module in memory is of the kind that this GPU wants."""
    module = driver.module
    if not isinstance(module, NvidiaModuleState) or module.loaded is None:
        return False
    if one.wants in (Flavour.OPEN.value, Flavour.PROPRIETARY.value):
        return module.flavour == one.wants
    return str(module.loaded).startswith(f"{one.wants}.")


def _version(driver: NvidiaDriverState) -> str:
    told = (driver.loaded, driver.on_disk, driver.library)
    return next((version for version in told if isinstance(version, str)), "in use")
