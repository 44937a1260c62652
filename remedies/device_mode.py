"""The mode of NVIDIA's device nodes, written in octal where the module is loaded from."""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The line of modprobe.d; in a guest its host has it."""
    text = (
        "write 0666 (or 438) in /etc/modprobe.d, then reload the module, or reboot; chmod 666 helps"
        " until then"
    )
    return Remedy("device-mode", Repair.MANUAL, f"{on_host(context.node)}{text}")
