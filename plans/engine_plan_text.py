"""A plan in words: what stops, what comes back and how, the diff, every refusal."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_plan import Plan


def engine_plan_lines(plan: Plan, diff: bool) -> Iterator[str]:
    """The plan of one node, as it is told before anything is done."""
    for refusal in plan.refusals:
        yield f"refused: {refusal}"
    if plan.refusals:
        return
    if not plan.acts:
        yield f"nothing to do: {plan.idle}"
        return
    if plan.write:
        entry = f"exec-opts native.cgroupdriver={plan.driver}"
        if plan.restores:
            entry = f"the file from before, with driver {plan.driver}"
        yield f"{plan.path}: {entry}  [{_cost(Repair.WRITE_CONFIG)}]"
        if diff:
            yield from _diff(plan)
    if plan.restart:
        yield from _restart(plan)
    for container in plan.exposed:
        yield f"proven afterwards: container {container.name}"


def _cost(repair: Repair) -> str:
    return f"{repair.value}: {repair.cost}"


def _restart(plan: Plan) -> Iterator[str]:
    count = len(plan.stops)
    stop = {0: "no container stops", 1: "1 container stops"}.get(count, f"{count} containers stop")
    yield f"docker: restart, {stop}; other changes to daemon.json since its last start take effect"
    if plan.live_restore:
        yield "  live-restore: they keep running, and exposed ones stay exposed until they restart"
    for container in plan.stops:
        yield f"  {container.name}: {returns(container)}"
    yield from _work(plan)


def _work(plan: Plan) -> Iterator[str]:
    """What else the stop hits: computations, clusters inside containers, services of a swarm."""
    if isinstance(plan.work, Unknown):
        yield f"  GPU processes: could not tell ({plan.work.reason})"
    elif plan.work and plan.work.processes and not plan.live_restore:
        named = ", ".join(f"{one.program} ({one.pid})" for one in plan.work.processes)
        yield f"  GPU processes that may end: {named}"
    for cluster in sorted({one.kind_cluster for one in plan.stops if one.kind_cluster}):
        yield f"  kind cluster {cluster}: its nodes are containers here, so it goes down with them"
    for service in sorted({one.service for one in plan.stops if one.service}):
        yield f"  swarm service {service}: its tasks here move or restart"


def returns(container: Inspected) -> str:
    """How a container comes back after a restart of the engine (docker run, --restart, --rm)."""
    if container.auto_remove:
        return "cannot come back: it was started with --rm, Docker removes it when it stops"
    if container.restart_policy in ("always", "unless-stopped"):
        return f"comes back by its policy ({container.restart_policy})"
    policy = container.restart_policy or "no"
    return f"is started again by this run (restart policy {policy})"


def _diff(plan: Plan) -> Iterator[str]:
    before = (plan.before or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True)
    after = (plan.after or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True)
    for line in difflib.unified_diff(before, after, plan.path, plan.path):
        yield f"  {line.rstrip()}"
        if not line.endswith("\n"):
            yield "  \\ No newline at end of file"
