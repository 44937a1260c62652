"""The hold of the driver's packages by hand, or what has to be done before anything is held."""

from __future__ import annotations

from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context
from pyinfra_nvml.remedies.hold_packages import commands, in_step, to_hold


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The commands for root, or the step before them."""
    made, repair = to_hold(context), Repair.MANUAL
    if not in_step(context):
        text = (
            "first bring the driver in step (see driver-skew): a hold now keeps in place what has"
            " to move; then deploys/fix_driver.py holds it"
        )
    elif made.refusals:
        reasons = dict.fromkeys(one.instead or str(one) for one in made.refusals)
        text = f"first: {'; '.join(reasons)}; then deploys/fix_driver.py"
    else:
        repair = Repair.HOLD_PACKAGES
        text = f"as root: {commands(made)}"
    return Remedy("hold-by-hand", repair, text)
