"""The same reboot by hand, where the deploy refuses the node: first what stands against it."""

from __future__ import annotations

from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context
from pyinfra_nvml.remedies.reboot import against, boot_that_helps, words


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """What to do before the reboot, and the reboot; nothing where the deploy does it."""
    reasons, boot = against(context), boot_that_helps(context.node)
    if boot is None or not reasons:
        return None
    first = dict.fromkeys(reason.instead or f"see to {reason.subject}" for reason in reasons)
    return Remedy("reboot-by-hand", Repair.REBOOT, f"{'; '.join(first)}; then {words(boot)}")
