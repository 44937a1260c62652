"""A GPU that the module has left, or that another driver holds."""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """Where the reason stands; nothing where another module is the remedy."""
    text = (
        f"dmesg | grep -e NVRM -e {finding.target} names the reason; if it was unbound on purpose,"
        " nothing"
    )
    if "nouveau" in finding.saw:
        text = "keep nouveau from loading (modprobe.d, then a new initramfs), and reboot"
    return Remedy("unbound-gpu", Repair.MANUAL, f"{on_host(context.node)}{text}")
