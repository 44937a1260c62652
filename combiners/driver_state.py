"""What a node's driver versions mean: what boots next, and what would bring them in step."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.combiners.driver_evidence import told
from pyinfra_nvml.combiners.unsupported_gpu import unsupported_gpu
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.driver_versions import newer, same
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown


@dataclass(frozen=True)
class NextBoot:
    """The kernel that boots next, as far as can be told, and its nvidia module.

    That is the newest kernel with an image, else the running one; what the boot loader was told
    otherwise is not looked at.
    """

    kernel: str
    version: str | Unknown | None


def next_boot(driver: NvidiaDriverState) -> NextBoot:
    """What the node's next boot loads."""
    module = driver.module
    if isinstance(module, Unknown):
        return NextBoot("?", module)
    running = module.kernel if isinstance(module.kernel, str) else "?"
    if module.next_kernel:
        return NextBoot(module.next_kernel.kernel, module.next_kernel.version)
    if module.disk == ():
        return NextBoot(running, Unknown("no kernel under /lib/modules"))
    return NextBoot(running, module.on_disk)


def contained(driver: NvidiaDriverState) -> bool:
    """Whether the driver lives in a container (GPU Operator), with its module and library."""
    libraries = driver.libraries
    return not isinstance(libraries, Unknown) and bool(libraries.root and libraries.root.version)


def unmanaged(driver: NvidiaDriverState) -> bool:
    """Whether no package is known to have put the driver here, and modprobe has no module to load.

    Flatcar's nvidia.service and other images bring it at every boot.
    """
    packages, module = driver.packages, driver.module
    if isinstance(module, Unknown) or module.on_disk is not None:
        return False
    known = () if isinstance(packages, Unknown) else (packages.dpkg, packages.rpm, packages.dkms)
    return all(rows is None or isinstance(rows, Unknown) for rows in known)


def driver_installed(driver: NvidiaDriverState) -> bool:
    """Whether a part of NVIDIA's driver is on this node: library, module, or its container."""
    module = driver.module
    disk = () if isinstance(module, Unknown) or isinstance(module.disk, Unknown) else module.disk
    return driver.library is not None or any(kernel.path for kernel in disk)


def saw(driver: NvidiaDriverState) -> str:
    """The three versions in one line."""
    boot = next_boot(driver)
    on_disk = "module in its container" if contained(driver) else f"module on disk {_told(boot)}"
    loaded = driver.loaded or "not loaded"
    return f"module {told(loaded)}, libnvidia-ml {told(driver.library)}, {on_disk}"


def cure(
    driver: NvidiaDriverState, loaded: str, library: str, boot: NextBoot
) -> tuple[Repair, str]:
    """What brings a skewed node in step, and whether a reboot does."""
    if contained(driver):
        return Repair.MANUAL, (
            "let the GPU Operator reload its module: drain the GPU pods of this node and restart"
            " its driver pod"
        )
    if newer(library, loaded):
        return _after_update(library, boot)
    copy = _copy_of(driver, loaded)
    if copy:
        return Repair.MANUAL, (
            f"the loader takes {_target(driver)}, but {copy} is there too: remove the leftover,"
            " then ldconfig"
        )
    if isinstance(boot.version, str) and same(boot.version, library):
        return Repair.MANUAL, (
            f"the driver was taken back to {library}; if that was meant, a reboot loads it, else"
            f" install {loaded} again"
        )
    return Repair.MANUAL, f"install the library of {loaded}, or both halves of one version"


def _after_update(library: str, boot: NextBoot) -> tuple[Repair, str]:
    if isinstance(boot.version, Unknown):
        return Repair.MANUAL, (
            f"find out whether kernel {boot.kernel} has module {library}"
            f" (modinfo -k {boot.kernel} -F version nvidia); if it has, reboot"
        )
    if boot.version is not None and same(boot.version, library):
        return Repair.REBOOT, f"reboot: kernel {boot.kernel} has module {boot.version} on disk"
    return Repair.MANUAL, (
        f"a reboot would not help: kernel {boot.kernel} has {boot.version or 'no nvidia module'}"
        f" on disk; {_build(boot.kernel)}, then reboot"
    )


def nothing_to_boot(boot: NextBoot) -> tuple[str, str]:
    """Why, and what to do, where the kernel that boots next has no module."""
    return (
        f"kernel {boot.kernel} boots next and has no nvidia module: the GPUs are gone after it",
        f"{_build(boot.kernel)} before the next reboot",
    )


def another_to_boot(boot: NextBoot, loaded: str) -> tuple[str, str]:
    """Why, and what to do, where the next boot loads a module the library does not fit."""
    return (
        f"the next boot, or a reload of the module, loads {boot.version}, which refuses the"
        f" library {loaded}",
        f"finish the update: bring libnvidia-ml to {boot.version} (or the module back to"
        f" {loaded}), then reboot",
    )


def why_not_loaded(driver: NvidiaDriverState, holders: set[str]) -> tuple[str, str]:
    """Why the module of a node with a GPU is not in memory, and what to do."""
    if "nouveau" in holders:
        return "nouveau holds the GPU", (
            "keep nouveau from loading (modprobe.d, then a new initramfs), and reboot"
        )
    if driver.on_disk is None and not isinstance(driver.module, Unknown):
        return (
            f"the running kernel {told(driver.module.kernel)} has no nvidia module on disk",
            f"{_build(told(driver.module.kernel))}, then modprobe nvidia",
        )
    return unsupported_gpu(driver) or (
        "no nvidia module is loaded",
        "modprobe nvidia; its answer and dmesg name the reason (Secure Boot: the key was rejected)",
    )


def _build(kernel: str) -> str:
    return f"build or install the module for {kernel} (dkms status; dkms autoinstall -k {kernel})"


def _told(boot: NextBoot) -> str:
    return f"{told(boot.version or 'none')} ({boot.kernel})"


def _target(driver: NvidiaDriverState) -> str:
    libraries = driver.libraries
    if isinstance(libraries, Unknown) or libraries.resolved is None:
        return "another copy"
    return libraries.resolved.target


def _copy_of(driver: NvidiaDriverState, version: str) -> str | None:
    """Another copy of the library on the node that fits the module in memory."""
    if isinstance(driver.libraries, Unknown):
        return None
    copies = (lib.target for lib in driver.libraries.files if lib.version == version and lib.exists)
    return next(copies, None)
