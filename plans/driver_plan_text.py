"""The plan for a node's driver in words: flag, holds and their release, what a reboot stops."""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.plans.driver_holds import HOLD, Holding
from pyinfra_nvml.plans.driver_plan import DriverPlan
from pyinfra_nvml.plans.engine_plan_text import returns

_RELEASE = {
    "apt-mark": "apt-mark unhold",
    "dnf": "dnf versionlock delete",
    "dnf5": "dnf versionlock delete",
    "yum": "yum versionlock delete",
    "zypper": "zypper removelock",
}


def driver_plan_lines(plan: DriverPlan) -> Iterator[str]:
    """The plan of one node, as it is told before anything is done."""
    for refusal in plan.refusals:
        yield f"refused: {refusal}"
    if plan.refusals:
        return
    yield from plan.notes
    if plan.flag:
        since = f" (since {plan.since})" if plan.since else ""
        yield f"flag: {plan.flag}{since}"
    yield from _holds(plan.holds)
    if plan.reboot:
        yield from _reboot(plan)
    elif plan.flag and plan.stops:
        yield f"the reboot will stop {_count(len(plan.stops))}"
    if plan.recover:
        yield "docker: start what ran before a reboot whose end was not seen"


def _holds(holds: Holding) -> Iterator[str]:
    for by in dict.fromkeys(means for means, _ in holds.add):
        names = " ".join(name for means, name in holds.add if means == by)
        cost = f"{Repair.HOLD_PACKAGES.value}: {Repair.HOLD_PACKAGES.cost}"
        yield f"{HOLD[by]} {names}  [{cost}]"
        yield f"  to release: {_RELEASE[by]} {names}, or --data hold_driver=release"
    for by in dict.fromkeys(means for means, _ in holds.drop):
        names = " ".join(name for means, name in holds.drop if means == by)
        yield f"{_RELEASE[by]} {names}  (held by an earlier run)"
    if holds.blacklist:
        yield f"unattended-upgrades: leave out {', '.join(holds.blacklist)}"
        yield "  to release: --data hold_driver=release"
    elif holds.blacklist is not None:
        yield "unattended-upgrades: our blacklist is removed"


def _reboot(plan: DriverPlan) -> Iterator[str]:
    yield f"reboot: {_count(len(plan.stops))} stop  [{Repair.REBOOT.value}: {Repair.REBOOT.cost}]"
    for container in plan.stops:
        yield f"  {container.name}: {returns(container)}"
    if plan.users:
        named = ", ".join(f"{one.name} ({one.pid})" for one in plan.users)
        yield f"  processes with a GPU open, which end: {named}"


def _count(number: int) -> str:
    return {0: "no container", 1: "1 container"}.get(number, f"{number} containers")
