"""A library of the module's version, where the library is the older of the two or is not there.

Does not help where the library is the newer one: the module has to follow it then.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_build import package_manager
from pyinfra_nvml.combiners.driver_state import copy_of, next_boot, taken
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The leftover to remove, the step to take back, or the library to install."""
    driver = context.node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState) or not isinstance(driver.loaded, str):
        return None
    return Remedy("match-library", Repair.MANUAL, _text(context.node, driver, driver.loaded))


def _text(node: NodeState, driver: NvidiaDriverState, loaded: str) -> str:
    library, boot = driver.library, next_boot(driver)
    if not isinstance(library, str):
        return _install(node, driver, loaded)
    if same(library, loaded):
        return (
            f"finish the update: bring libnvidia-ml to {boot.version} (or the module back to"
            f" {loaded}), then reboot"
        )
    if copy := copy_of(driver, loaded):
        return (
            f"the loader takes {taken(driver)}, but {copy} is there too: remove the leftover,"
            " then ldconfig"
        )
    if isinstance(boot.version, str) and same(boot.version, library):
        return (
            f"the driver was taken back to {library}; if that was meant, a reboot loads it, else"
            f" install {loaded} again"
        )
    return f"install the library of {loaded}, or both halves of one version"


def _install(node: NodeState, driver: NvidiaDriverState, loaded: str) -> str:
    """By the names of the packages of Ubuntu's archive, of Debian's, of NVIDIA's repository."""
    branch, manager = loaded.partition(".")[0], package_manager(node)
    if manager == "apt":
        name = "libnvidia-ml1" if _debian(node) else f"libnvidia-compute-{branch}{_server(driver)}"
        return f"apt install {name} (its version has to be {loaded}), then nvidia-smi"
    if manager in ("dnf", "yum"):
        return f"{manager} install nvidia-driver-cuda-libs-{loaded}, then nvidia-smi"
    return f"install the libraries of driver {loaded} as its other parts came, then ldconfig"


def _debian(node: NodeState) -> bool:
    return not isinstance(node.machine, Unknown) and node.machine.os_id == "debian"


def _server(driver: NvidiaDriverState) -> str:
    packages = driver.packages
    known = packages.known if isinstance(packages, NvidiaPackagesState) else ()
    return "-server" if any("-server" in package.name for package in known) else ""
