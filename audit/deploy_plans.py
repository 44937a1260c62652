"""What a deploy does on one node: what those remedies of its findings say that it carries out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.combiners.engine import of_node
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.last_write import LastWriteState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.driver_plan import DriverPlan, NodeAnswers
from pyinfra_nvml.plans.driver_plan import plan_driver as driver_plan_of
from pyinfra_nvml.plans.engine_plan import Plan, plan_engine
from pyinfra_nvml.remedies import reboot as driver
from pyinfra_nvml.remedies.cgroupfs import DEPLOY

_ASKS = ("device-exposure", "device-loss", "engine-driver")
"""The checks whose findings name a remedy of deploys/fix_cgroup.py."""

_WANT = "to know whether a container needs another cgroup driver"


def carried_out(verdict: Verdict, deploy: str) -> tuple[Finding, ...]:
    """The findings of this node that a remedy of this deploy mends, and that nobody waives."""
    return tuple(
        finding
        for _, finding in verdict.findings
        if finding.counts and any(remedy.deploy == deploy for remedy in finding.remedies)
    )


def cgroup_driver_plan(
    verdict: Verdict,
    driver: str,
    only_exposed: bool = False,
    overrule: Collection[str] = (),
    enforce: bool = False,
    last: LastWriteState | None = None,
) -> Plan:
    """What deploys/fix_cgroup.py does on this node: nothing where no finding asks for it.

    ``enforce`` is the owner's word that this driver is wanted on nodes without findings too,
    ``last`` this project's last write on the node, where it was asked for.
    """
    state = verdict.state
    if isinstance(state, Unknown):
        saw = Refusal("node", state.reason, "it to answer")
        return Plan(driver, refusals=(saw,))
    if enforce or (driver == "cgroupfs" and carried_out(verdict, DEPLOY)):
        return plan_engine(state, driver, only_exposed, overrule, last)
    made = plan_engine(state, driver, only_exposed, overrule, last)
    if made.idle:
        return made
    if doubts := tuple(_unsure(verdict, _ASKS, _WANT)):
        return Plan(driver, made.path, tuple(dict.fromkeys((*made.refusals, *doubts))))
    return _unasked(state, driver)


def driver_plan(
    verdict: Verdict,
    asked: NodeAnswers,
    hold: str = "packages",
    reboot: bool = False,
    overrule: Collection[str] = (),
) -> DriverPlan:
    """What deploys/fix_driver.py does on this node: flag, holds and reboot that findings ask for.

    Only the release of what it holds is the owner's word alone.
    """
    state = verdict.state
    if isinstance(state, Unknown):
        return DriverPlan(refusals=(Refusal("node", state.reason, "it to answer"),))
    carried = (one.remedies for one in carried_out(verdict, driver.DEPLOY))
    holds = any(remedy.id == "hold-packages" for remedies in carried for remedy in remedies)
    made = driver_plan_of(
        state, verdict.results, asked, hold, reboot, overrule, holds or hold == "release"
    )
    if holds or hold not in ("packages", "blacklist"):
        return made
    doubts = _unsure(verdict, ("driver-packages-held",), "to know whether the driver is to be held")
    return replace(made, refusals=tuple(dict.fromkeys((*made.refusals, *doubts))))


def _unsure(verdict: Verdict, checks: Collection[str], want: str) -> Iterator[Refusal]:
    """Why these checks could not tell whether a remedy is needed on this node."""
    for result in verdict.results:
        if result.check in checks:
            for doubt in result.doubts:
                yield Refusal(doubt.subject, doubt.reason, want)


def _unasked(state: NodeState, driver: str) -> Plan:
    """Nothing is changed; a restart that was interrupted is still ended, on the driver of now."""
    engine = state.docker_engine
    info = engine.info if isinstance(engine, DockerEngineState) else None
    idle = f"no finding on this node asks for the cgroup driver {driver}"
    if not isinstance(engine, DockerEngineState) or not isinstance(info, EngineInfo):
        return Plan(driver, idle=idle, engine=False)
    return Plan(info.cgroup_driver, of_node(state).path, idle=idle)
