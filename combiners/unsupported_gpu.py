"""A GPU that this node's nvidia module does not drive by design, and the module that would."""

from __future__ import annotations

from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_log import IgnoredGpu, NvidiaLogState
from pyinfra_nvml.facts.nvidia_module import Flavour, NvidiaModuleState


def unsupported_gpu(driver: NvidiaDriverState, slot: str = "") -> tuple[str, str] | None:
    """Why the module leaves a GPU alone, and what to do; ``None`` where it does not say so.

    Of one GPU where its ``slot`` is given: a name in the log may be any GPU's. What the kernel log
    has from before another module was loaded does not count.
    """
    log = driver.log
    for one in log.ignored if isinstance(log, NvidiaLogState) else ():
        if _mended(driver, one) or (slot and one.gpu[:1].isdigit() and one.gpu != slot):
            continue
        if one.wants == "open":
            return (
                f"GPU {one.gpu} works with NVIDIA's open kernel module alone (Blackwell and newer),"
                " and this is the proprietary one",
                "install the open module of the same version in its place (nvidia-driver-NNN-open,"
                " nvidia-open), then reboot",
            )
        if one.wants == "proprietary":
            return (
                f"the open kernel module finds no GSP on GPU {one.gpu}: it is older than Turing"
                " (Maxwell, Pascal, Volta), or does not answer",
                "install the proprietary module, of branch 580 or older; a GPU from Turing on:"
                " power-cycle the node",
            )
        return (
            f"driver {_version(driver)} ignores the {one.gpu}: branch {one.wants} is the last that"
            " drives it",
            f"go back to branch {one.wants} and hold it there (nvidia-driver-pinning-{one.wants},"
            " or deploys/fix_driver.py), then reboot",
        )
    return None


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
