"""The time of a reboot that will come, chosen by who answers for the containers."""

from __future__ import annotations

from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """A reboot stops every container, and not every one ends with a working driver."""
    text = (
        "choose its time; see driver-skew first where that has a finding: not every reboot ends"
        " with a working driver"
    )
    return Remedy("choose-reboot-time", Repair.MANUAL, text)
