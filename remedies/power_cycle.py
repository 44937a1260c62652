"""A reboot or power cycle of a node whose GPU does not answer, once its work is elsewhere.

Brings a GPU back, if anything does; a system container has no power of its own: its host has.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """What to look at first, on the node or on the host of a guest."""
    text = "dmesg | grep NVRM names the reason; take the node out of service, then reboot it"
    if finding.subject == "GPU firmware":
        text = (
            "reboot if driver-skew says so; else reset or power-cycle the GPU, and look at the"
            " vendor's notes on this driver"
        )
    elif finding.subject.startswith("GPU "):
        text = (
            "take the node out of service, then reboot or power-cycle it; if it comes again, look"
            " at power, heat, the seat of the card"
        )
    host = on_host(context.node)
    if host:
        text = text.replace("the node", "the host")
    return Remedy("power-cycle", Repair.MANUAL, f"{host}{text}")
