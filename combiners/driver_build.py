"""What brings the nvidia module of a node: dkms, packages for one kernel, an image, its host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pyinfra_nvml.combiners.driver_state import contained
from pyinfra_nvml.facts.machine import MachineState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState, Package
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.unknown import Unknown


class Builder(str, Enum):
    """Who brings the module of a kernel."""

    WSL = "Windows"
    HOST = "the host of this container"
    CONTAINER = "a driver container"
    IMAGE = "the image of the system"
    DKMS = "dkms"
    PREBUILT = "ready-made packages of the distribution, one for each kernel"
    AKMODS = "akmods"
    KMP = "a KMP package"
    KMOD = "a kmod package"
    PACMAN = "packages of pacman"
    LIBRARIES_ALONE = "no package, though packages bring the libraries"
    RUN_FILE = "no package: NVIDIA's .run file"


@dataclass(frozen=True)
class DriverBuild:
    """The builder, the packages of the module, and of an image the system's name.

    .. code:: python

        DriverBuild(Builder.PREBUILT, (Package("dpkg", "linux-modules-nvidia-580-generic", ...),))
        DriverBuild(Builder.IMAGE, system="nixos")
    """

    by: Builder
    packages: tuple[Package, ...] = ()
    system: str = ""


# os-release(5), ID. A system of an image takes no package of its own, or only through its own tool.
_IMAGES = {
    "bottlerocket": "bottlerocket",
    "cos": "cos",
    "flatcar": "flatcar",
    "nixos": "nixos",
    "opensuse-microos": "transactional",
    "rhcos": "ostree",
    "sl-micro": "transactional",
    "sle-micro": "transactional",
    "talos": "talos",
    "ubuntu-core": "snap",
}
# VARIANT stands in the pretty name of Fedora's and Universal Blue's (fedora-release.spec).
_OSTREE = re.compile(r"CoreOS|Silverblue|Kinoite|Atomic|Bazzite|Bluefin|Aurora|IoT")
# TrueNAS and Unraid call themselves Debian and Slackware; their kernels have the name.
_KERNELS = {"truenas": "truenas", "-unraid": "unraid"}

# The first that matches a package decides; Ubuntu's driver depends on dkms or on ready-made
# modules, and nvidia-dkms is installed only where the first was chosen.
_BY_NAME: tuple[tuple[Builder, re.Pattern[str]], ...] = (
    (Builder.DKMS, re.compile(r"^(?:nvidia-(?:.*-)?dkms|kmod-nvidia-.*dkms|dkms-nvidia)")),
    (Builder.PREBUILT, re.compile(r"^linux-(?:modules|objects)-nvidia-")),
    (Builder.AKMODS, re.compile(r"^akmods?-nvidia")),
    (Builder.KMP, re.compile(r"^nvidia-.*(?:-kmp|G0\d-kmp|kmp-)")),
    (Builder.KMOD, re.compile(r"^kmod-nvidia")),
)


def driver_build(node: NodeState) -> DriverBuild | Unknown:
    """What brings this node's module; unknown where the answer that decides was not read."""
    if isinstance(node.wsl, WslState):
        return DriverBuild(Builder.WSL)
    driver, machine = node.nvidia_driver, node.machine
    if not isinstance(driver, NvidiaDriverState):
        return driver or Unknown("no NVIDIA driver on this node")
    if isinstance(machine, Unknown):
        return machine
    if isinstance(machine.container, Unknown):
        return machine.container
    if machine.container:
        return DriverBuild(Builder.HOST, system=machine.container)
    if contained(driver):
        return DriverBuild(Builder.CONTAINER)
    if image := _image(machine):
        return DriverBuild(Builder.IMAGE, system=image)
    if isinstance(driver.packages, Unknown):
        return driver.packages
    return _by_packages(driver.packages, machine)


def _image(machine: MachineState) -> str:
    kernel = machine.kernel.lower() if isinstance(machine.kernel, str) else ""
    by_kernel = (name for part, name in _KERNELS.items() if part in kernel)
    if name := next(by_kernel, ""):
        return name
    if isinstance(machine.os_name, str) and _OSTREE.search(machine.os_name):
        return "ostree"
    return _IMAGES.get(machine.os_id, "") if isinstance(machine.os_id, str) else ""


def _by_packages(packages: NvidiaPackagesState, machine: MachineState) -> DriverBuild | Unknown:
    rows = packages.dkms
    known = [package for package in packages.known if package.manager != "dkms"]
    if isinstance(rows, tuple) and rows:
        named = _named(known, _BY_NAME[0][1])
        return DriverBuild(Builder.DKMS, (*named, *rows))
    for builder, pattern in _BY_NAME:
        if named := _named(known, pattern):
            return DriverBuild(builder, named)
    for part in (packages.dpkg, packages.rpm, rows):
        if isinstance(part, Unknown):
            return part
    if machine.os_id in ("arch", "manjaro", "endeavouros", "cachyos"):
        return DriverBuild(Builder.PACMAN)
    drivers = tuple(package for package in known if _LIBRARY.match(package.name))
    return DriverBuild(Builder.LIBRARIES_ALONE if drivers else Builder.RUN_FILE, drivers)


_LIBRARY = re.compile(r"^(?:libnvidia-|nvidia-(?:driver|utils|compute)|xorg-x11-drv-nvidia)")


def _named(known: list[Package], pattern: re.Pattern[str]) -> tuple[Package, ...]:
    return tuple(package for package in known if pattern.match(package.name))


def package_manager(node: NodeState) -> str | Unknown:
    """The program that installs packages here: ``apt``, ``dnf``, ``yum``, ``zypper``, ``pacman``.

    By the system's own name (os-release(5), ID and VERSION_ID), and by which database is there.
    """
    machine = node.machine
    if isinstance(machine, Unknown):
        return machine
    system, version = machine.os_id, machine.os_version
    driver = node.nvidia_driver
    packages = driver.packages if isinstance(driver, NvidiaDriverState) else None
    dpkg = packages.dpkg if isinstance(packages, NvidiaPackagesState) else None
    if isinstance(dpkg, tuple) and dpkg:
        return "apt"
    if not isinstance(system, str):
        return system or Unknown("/etc/os-release: no ID")
    nobody = Unknown(f"{system}: its package manager is not known here")
    return next(_managers(system, version if isinstance(version, str) else ""), nobody)


def _managers(system: str, version: str) -> Iterator[str]:
    """Amazon Linux 2, and Red Hat's systems before 8, have yum alone."""
    if system in ("debian", "ubuntu", "linuxmint", "pop", "raspbian", "proxmox"):
        yield "apt"
    if system in ("sles", "sled", "sle_hpc") or system.startswith(("opensuse", "sle")):
        yield "zypper"
    if system in ("arch", "manjaro", "endeavouros", "cachyos"):
        yield "pacman"
    if system in ("rhel", "centos", "ol", "amzn") and version.partition(".")[0] in ("2", "6", "7"):
        yield "yum"
    if system in ("rhel", "centos", "ol", "amzn", "fedora", "rocky", "almalinux", "mariner"):
        yield "dnf"
    if system in ("azurelinux", "openEuler", "anolis", "scientific"):
        yield "dnf"
