"""What a node's driver versions mean: what boots next, and whether that is in step."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.combiners.driver_evidence import told
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.driver_versions import same
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


def _told(boot: NextBoot) -> str:
    return f"{told(boot.version or 'none')} ({boot.kernel})"


def taken(driver: NvidiaDriverState) -> str:
    """The file of the library that the loader takes."""
    libraries = driver.libraries
    if isinstance(libraries, Unknown) or libraries.resolved is None:
        return "another copy"
    return libraries.resolved.target


def copy_of(driver: NvidiaDriverState, version: str) -> str | None:
    """Another copy of the library on the node that fits the module in memory."""
    if isinstance(driver.libraries, Unknown):
        return None
    copies = (lib.target for lib in driver.libraries.files if lib.version == version and lib.exists)
    return next(copies, None)


def boots_in_step(driver: NvidiaDriverState) -> bool | Unknown:
    """Whether the next boot loads the module of the library that is on disk now."""
    boot = next_boot(driver)
    if isinstance(driver.library, Unknown):
        return driver.library
    if isinstance(boot.version, Unknown):
        in_step = isinstance(driver.loaded, str) and driver.loaded == driver.library
        return in_step or boot.version
    return bool(driver.library and boot.version and same(boot.version, driver.library))
