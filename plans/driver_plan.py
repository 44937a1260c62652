"""What deploys/fix_driver.py would do to a node: flag, holds, reboot, or every reason against."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState
from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT, NvidiaDriverState
from pyinfra_nvml.facts.reboot_conditions import Process, RebootConditionsState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.finding import Result, Status
from pyinfra_nvml.model.refusal import Refusal, not_overruled
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.driver_holds import NOTHING, Holding, holding
from pyinfra_nvml.plans.engine_refusals import not_root
from pyinfra_nvml.plans.pending_reboot import pending_reboot
from pyinfra_nvml.plans.reboot_refusals import (
    broken,
    reboot_refusals,
    skew,
    stops,
)


@dataclass(frozen=True)
class NodeAnswers:
    """What the node said besides its facts, for this deploy alone."""

    means: HoldToolsState | Unknown
    conditions: RebootConditionsState | Unknown
    libraries: ContainerLibrariesState | Unknown
    interrupted: bool | Unknown = False
    local: bool = False


@dataclass(frozen=True)
class DriverPlan:
    """The way of one node to a driver in step, that stays so.

    ``flag`` is the reason that the reboot flag is to hold, ``since`` when the skew began. With
    ``reboot`` the node goes down; ``stops`` are the containers that stop with it. ``recover``: a
    run before this one ended between its reboot and the containers' return. ``notes`` are told and
    not done.
    """

    flag: str | None = None
    since: str | None = None
    holds: Holding = NOTHING
    reboot: bool = False
    recover: bool = False
    stops: tuple[Inspected, ...] = ()
    users: tuple[Process, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether anything is done beside the flag, which tells for itself."""
        changes = self.holds.add or self.holds.drop or self.holds.blacklist is not None
        return bool(changes or self.flag or self.reboot or self.recover) and not self.refusals


def plan_driver(
    node: NodeState,
    results: Collection[Result],
    asked: NodeAnswers,
    hold: str = "packages",
    reboot: bool = False,
    overrule: Iterable[str] = (),
    to_hold: bool = True,
) -> DriverPlan:
    """The plan for one node; nothing that could not be read is taken to be fine.

    Without ``to_hold`` no finding asks for a hold, and none is made.
    """
    flag = pending_reboot(results)
    holds = _holds(node, asked, hold)
    if not to_hold:
        holds = Holding(notes=holds.notes)
    against = [*holds.refusals, *_interrupted(asked.interrupted)]
    if hold != "leave" and to_hold:
        against += not_root(node)
    if reboot:
        against += reboot_refusals(node, results, asked.conditions, asked.libraries, asked.local)
    conditions = asked.conditions if isinstance(asked.conditions, RebootConditionsState) else None
    stand = not_overruled(dict.fromkeys(against), overrule)
    return DriverPlan(
        flag=flag,
        since=conditions.changed if conditions and flag else None,
        holds=holds,
        reboot=reboot and flag is not None and not stand,
        recover=asked.interrupted is True,
        stops=stops(node) if flag else (),
        users=conditions.users if conditions and flag else (),
        refusals=stand,
        notes=(*_notes(node, results, conditions, reboot), *holds.notes),
    )


def library(node: NodeState | Unknown) -> str:
    """The library's file: when it came to the disk, the skew began; empty where there is none."""
    driver = None if isinstance(node, Unknown) else node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState) or isinstance(driver.libraries, Unknown):
        return ""
    resolved = driver.libraries.resolved
    return resolved.target if resolved and resolved.exists else ""


def _holds(node: NodeState, asked: NodeAnswers, hold: str) -> Holding:
    driver = node.nvidia_driver
    if isinstance(node.wsl, WslState):
        return Holding(notes=("WSL: Windows brings the driver, no package of it belongs here",))
    if driver is None and hold in ("packages", "blacklist"):
        return Holding(notes=(ABSENT,))
    if driver is None or isinstance(driver, Unknown):
        packages = Unknown("no driver") if driver is None else driver
        return holding(packages, node.package_holds, asked.means, hold)
    return holding(driver.packages, node.package_holds, asked.means, hold)


def _interrupted(interrupted: bool | Unknown) -> Iterator[Refusal]:
    if isinstance(interrupted, Unknown):
        yield Refusal("containers of before", interrupted.reason, "to know that none is down")


def _notes(
    node: NodeState,
    results: Collection[Result],
    conditions: RebootConditionsState | None,
    reboot: bool,
) -> Iterator[str]:
    result = skew(results)
    finding = broken(result)
    if isinstance(node.wsl, WslState):
        return
    if finding is None:
        yield from _in_step(result, reboot)
    elif finding.repair is not Repair.REBOOT:
        yield f"driver: saw {finding.saw}; {finding.do}"
    elif not reboot:
        yield f"driver: saw {finding.saw}; a reboot ends it (--data reboot=true)"
        yield from (
            f"{who} may reboot it earlier" for who in (conditions and conditions.reboots) or ()
        )


def _in_step(result: Result | None, reboot: bool) -> Iterator[str]:
    if result is None:
        return
    for pending in result.findings:
        yield f"{pending.subject}: saw {pending.saw}; {pending.why}; {pending.do}"
    for doubt in result.doubts:
        yield f"{doubt.subject}: could not tell ({doubt.reason})"
    if result.status is Status.NOT_APPLICABLE:
        yield f"driver: {result.reason}"
    if result.status is Status.OK:
        yield "driver: in step" + (", no reboot is needed" if reboot else "")
