"""The module of the library's version for a kernel that has none, or an older one.

By what brings the module on this node: dkms, packages, an image. A reboot before it helps nothing.
"""

from __future__ import annotations

import re

from pyinfra_nvml.combiners.driver_build import Builder, DriverBuild, driver_build
from pyinfra_nvml.combiners.driver_state import next_boot
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.context import Context
from pyinfra_nvml.remedies.module_of_dkms import by_dkms
from pyinfra_nvml.remedies.module_of_image import by_image


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The commands of this node's builder for the kernel that the finding names."""
    driver = context.node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState):
        return None
    how = _how(context.node, driver, finding.target)
    return Remedy("bring-module", Repair.MANUAL, _around(driver, finding.target, how))


def _around(driver: NvidiaDriverState, kernel: str, how: str) -> str:
    """What follows it: the module loaded, or a reboot, which helps nothing before."""
    loaded, library = driver.loaded, driver.library
    if not isinstance(loaded, str):
        return f"{how}, then modprobe nvidia"
    if isinstance(library, str) and same(loaded, library):
        return f"{how} before the next reboot"
    has = next_boot(driver).version or "no nvidia module"
    return f"a reboot would not help: kernel {kernel} has {has} on disk; {how}, then reboot"


def _how(node: NodeState, driver: NvidiaDriverState, kernel: str) -> str:
    build = driver_build(node)
    version = driver.library if isinstance(driver.library, str) else ""
    if isinstance(build, Unknown):
        return (
            f"build or install the module for {kernel}, by what brought it: find out what brings"
            f" the nvidia module on this node, which could not be told ({build.reason})"
        )
    if build.by is Builder.DKMS:
        return by_dkms(node, build, kernel, version)
    if build.by is Builder.IMAGE:
        return by_image(build.system)
    return _by_packages(build, kernel, version)


def _by_packages(build: DriverBuild, kernel: str, version: str) -> str:
    names = [package.name for package in build.packages]
    of = f" of version {version}" if version else ""
    if build.by is Builder.PREBUILT:
        return f"apt install {' '.join(_ready_made(names, kernel))}"
    if build.by is Builder.AKMODS:
        return f"akmods --force --kernels {kernel}"
    if build.by is Builder.KMP:
        return f"zypper install --force {' '.join(names)}, and look at zypper locks"
    if build.by is Builder.KMOD:
        return (
            f"install a kmod-nvidia{of} for kernel {kernel}, from where {names[0]} came; where none"
            " is out yet, boot the kernel from before"
        )
    if build.by is Builder.PACMAN:
        return "pacman -Syu, which brings kernel and module together"
    if build.by is Builder.RUN_FILE:
        return f"run NVIDIA's installer{of} again with --kernel-name={kernel}"
    if build.by is Builder.LIBRARIES_ALONE:
        return (
            f"install the package of the module{of} for {kernel}: only packages of its libraries"
            f" are here ({names[0]})"
        )
    return f"let {build.by.value} bring the module{of} for {kernel}"


def _ready_made(names: list[str], kernel: str) -> list[str]:
    """The module's package of this kernel, and the one that follows each new kernel."""
    stem = next((name[: name.index(at)] for name in names if (at := _kernel_in(name))), "")
    follows = [name for name in names if not _kernel_in(name)]
    if not stem and follows:
        stem = follows[0].rpartition("-")[0] + "-"
    return [f"{stem}{kernel}", *follows]


def _kernel_in(name: str) -> str:
    """The release of a kernel in a package's name; empty where it follows every kernel."""
    found = _RELEASE.search(name)
    return found[0] if found else ""


_RELEASE = re.compile(r"\d+\.\d+\.\d+-\d+-.*$")
