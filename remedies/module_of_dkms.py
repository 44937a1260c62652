"""A module that dkms builds: what dkms says of it already decides what is left to do."""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_build import DriverBuild, package_manager
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState
from pyinfra_nvml.model.unknown import Unknown


def by_dkms(node: NodeState, build: DriverBuild, kernel: str, version: str) -> str:
    """The next command of dkms, or what hinders the module that dkms calls installed."""
    rows = [one for one in build.packages if one.manager == "dkms"]
    own = [one for one in rows if not version or one.version == version]
    here = [one for one in own if one.kernel == kernel]
    if rows and not own:
        versions = ", ".join(dict.fromkeys(one.version for one in rows))
        return (
            f"install the module's package of version {version} ({_named(build)}), which dkms then"
            f" builds for {kernel}: dkms has no nvidia {version}, but {versions}"
        )
    if any(one.status.startswith("installed") for one in here):
        return (
            f"depmod -a {kernel}; dkms says that nvidia {version} is installed for {kernel}, so"
            f" building it again helps nothing: another nvidia.ko stands before it"
            f" (find /lib/modules/{kernel} -name 'nvidia*.ko*'), which is to be removed"
        )
    if any(one.status.startswith("built") for one in here):
        return f"dkms install --force {here[0].name}/{here[0].version} -k {kernel}"
    headers = _headers(node, kernel)
    return f"{_dkms(node)}build the module for {kernel}: {headers}dkms autoinstall -k {kernel}"


def _named(build: DriverBuild) -> str:
    names = [one.name for one in build.packages if one.manager != "dkms"]
    return names[0] if names else "nvidia-dkms"


def _headers(node: NodeState, kernel: str) -> str:
    """The headers without which dkms builds nothing (dkms(8))."""
    manager = package_manager(node)
    if manager == "apt":
        # Proxmox names its kernel's packages by itself.
        name = "proxmox" if kernel.endswith("-pve") else "linux"
        return f"apt install {name}-headers-{kernel}; "
    if manager in ("dnf", "yum"):
        return f"{manager} install kernel-devel-{kernel}; "
    return ""


def _dkms(node: NodeState) -> str:
    """The program itself, where its package is there without it."""
    driver = node.nvidia_driver
    packages = driver.packages if isinstance(driver, NvidiaDriverState) else None
    if not isinstance(packages, NvidiaPackagesState) or packages.dkms is not None:
        return ""
    manager = package_manager(node)
    program = "the package manager" if isinstance(manager, Unknown) else manager
    return f"{program} install dkms, which is not there; then "
