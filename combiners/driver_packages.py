"""Which of a node's packages are NVIDIA's driver: they change together, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyinfra_nvml.facts.nvidia_packages import Package

# Debian's and Ubuntu's names (with -NNN, -server, -open), NVIDIA's repositories' (without a branch
# from 590 on), Fedora's, SUSE's (G06). The container toolkit, CUDA's tools and NVIDIA's settings
# program come in versions of their own.
_DRIVER = re.compile(
    r"^(?:"
    r"(?:lib)?nvidia-(?:driver|dkms|kernel|kmod|headless|utils|compute|open|firmware"
    r"|persistenced|fabric-?manager|gfx|legacy|tesla|current|imex)"
    r"|libnvidia-(?:cfg|common|decode|encode|extra|fbc|gl|gpucomp|ml|nscq|nvvm|opticalflow|ptxjit)"
    r"|libnvidia-compute|libcuda1|cuda-drivers|linux-(?:modules|objects|signatures)-nvidia"
    r"|[ad]?kmods?-nvidia|xorg-x11-drv-nvidia|xserver-xorg-video-nvidia"
    r")"
)
_OTHER = re.compile(
    r"^nvidia-(?:driver-(?:pinning|assistant)|kernel-common|.*-doc)|nvidia-utils-doc"
)


# Ubuntu's names of the module of one kernel and of the package that follows every new one
# (linux-restricted-modules, debian/control).
_READY_MADE = re.compile(
    r"^linux-modules-nvidia-\d+(?:-server)?(?:-open)?-(?:\d+\.\d+\.\d+-\d+-)?(?P<flavour>[a-z].*)$"
)
_ONE_KERNEL = re.compile(r"^linux-image-.*\d+\.\d+\.\d+-\d+")


def held_together(packages: tuple[Package, ...]) -> tuple[Package, ...]:
    """The driver's packages, and those of the kernel that have to wait with them.

    Where each kernel has a ready-made module, a newer kernel boots without one while the driver is
    held. A kernel's package that was not asked for has no status.
    """
    driver = driver_packages(packages)
    return (*driver, *_kernels(driver, packages))


def _kernels(driver: tuple[Package, ...], packages: tuple[Package, ...]) -> Iterator[Package]:
    found = (_READY_MADE.match(package.name) for package in driver if package.manager == "dpkg")
    flavours = dict.fromkeys(one["flavour"] for one in found if one)
    images = [one for one in packages if one.name.startswith("linux-image-")]
    if not flavours:
        return
    if images:
        yield from (one for one in images if not _ONE_KERNEL.match(one.name))
        return
    for flavour in flavours:
        yield Package("dpkg", f"linux-image-{flavour}", "", "")


def driver_packages(packages: tuple[Package, ...]) -> tuple[Package, ...]:
    """The installed packages of the driver, of dpkg and rpm."""
    return tuple(
        package
        for package in packages
        if package.manager in ("dpkg", "rpm")
        and _DRIVER.match(package.name)
        and not _OTHER.match(package.name)
    )
