"""NVIDIA's driver, on a node that has a GPU and the container toolkit and no part of a driver."""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_build import package_manager
from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The system's own way to it."""
    if host := on_host(context.node):
        text = f"{host}install the driver and load it, then give this container its nodes"
        return Remedy("install-driver", Repair.MANUAL, text)
    machine, manager = context.node.machine, package_manager(context.node)
    system = None if isinstance(machine, Unknown) else machine.os_id
    how = "by the system's packages"
    if system == "ubuntu":
        how = "(apt install ubuntu-drivers-common; ubuntu-drivers install --gpgpu)"
    elif system == "debian":
        how = "(apt install nvidia-driver, from the component non-free)"
    elif manager == "dnf":
        how = "(dnf install nvidia-open, from NVIDIA's repository)"
    return Remedy("install-driver", Repair.MANUAL, f"install the driver {how}, then reboot")
