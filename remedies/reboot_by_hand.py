"""The same reboot by hand, where the deploy refuses the node: first what stands against it."""

from __future__ import annotations

from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context
from pyinfra_nvml.remedies.reboot import against, boot_that_helps, reboot_words


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """What to do before the reboot, and the reboot; nothing where the deploy does it."""
    reasons, boot = against(context), boot_that_helps(context.node)
    if boot is None or not reasons:
        return None
    pods = any(reason.overrule is Overrule.KUBELET for reason in reasons)
    first = [
        one.instead or f"see to it: {one}" for one in reasons if one.overrule != Overrule.KUBELET
    ]
    if pods:
        first.insert(0, "kubectl drain NODE --ignore-daemonsets")
    after = ", then kubectl uncordon NODE" if pods else ""
    text = f"{'; '.join(dict.fromkeys(first))}; then {reboot_words(boot)}{after}"
    return Remedy("reboot-by-hand", Repair.REBOOT, text)
