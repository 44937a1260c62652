"""Which of a node's packages are NVIDIA's driver: they change together, or not at all."""

from __future__ import annotations

import re

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


def driver_packages(packages: tuple[Package, ...]) -> tuple[Package, ...]:
    """The installed packages of the driver, of dpkg and rpm."""
    return tuple(
        package
        for package in packages
        if package.manager in ("dpkg", "rpm")
        and _DRIVER.match(package.name)
        and not _OTHER.match(package.name)
    )
