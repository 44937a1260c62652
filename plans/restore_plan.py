"""The way back: the daemon.json from before, and the driver that the engine then has."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from pyinfra_nvml.combiners.daemon_document import Document, Refused, document
from pyinfra_nvml.combiners.driver_entry import named_drivers
from pyinfra_nvml.combiners.engine import of_node
from pyinfra_nvml.facts.cgroup import CgroupState, Mode
from pyinfra_nvml.facts.daemon_json import ConfigFile, DaemonJsonState
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.last_write import LastWriteState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Refusal, not_overruled
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_plan import Plan, as_refusal
from pyinfra_nvml.plans.engine_refusals import engine_refusals
from pyinfra_nvml.plans.restart_impact import RestartImpact, restart_impact
from pyinfra_nvml.plans.unproven_config import unproven_config


@dataclass(frozen=True)
class Way:
    """One file: what it holds now, and what it held before (``None``: it was not there)."""

    path: str
    before: bytes | None
    after: bytes | None


def way(
    files: DaemonJsonState | Unknown, last: LastWriteState | Unknown | None
) -> Way | Refused | None:
    """The way back from the last write, why there is none, or nothing to do."""
    if last is None or (isinstance(last, LastWriteState) and last.restored):
        return None
    if isinstance(last, Unknown):
        return Refused("last write", last.reason, "its record")
    file = files if isinstance(files, Unknown) else files.at(last.path)
    content = file if isinstance(file, Unknown) else file.content if file else None
    if isinstance(content, Unknown):
        return Refused(last.path, content.reason, "it readable")
    now = _sum(content)
    if now == last.before_sum:
        return None
    if now != last.after_sum:
        saw = f"other bytes than those written at {last.at}"
        return Refused(last.path, saw, "the file as it was written; restore it by hand")
    if isinstance(file, ConfigFile) and file.kept:
        return Refused(last.path, file.kept, "a file that can be replaced")
    return Way(last.path, content, last.before)


def driver_with(content: bytes | None, node: NodeState, path: str) -> tuple[str, bool] | Refused:
    """The driver that an engine with this file has, and whether the file names it.

    Without an entry, Docker takes systemd on cgroup v2 where systemd runs, else cgroupfs (moby,
    daemon/daemon_unix.go, UsingSystemd).
    """
    found = document(content, path)
    if isinstance(found, Refused):
        return found
    if named := next((driver for driver in named_drivers(found) if driver), None):
        return named, True
    hierarchy = node.cgroup
    if not isinstance(hierarchy, CgroupState):
        return Refused("cgroup hierarchy", hierarchy.reason, "to know it: it decides the driver")
    return ("systemd" if hierarchy.mode is Mode.V2 and node.systemd_manager else "cgroupfs"), False


@dataclass(frozen=True)
class Restore:
    """The plan of the way back; ``named`` is whether the file of before names the driver.

    ``unfinished``: the file is in place since a run that ended before the engine was through.
    """

    plan: Plan
    named: bool = True
    unfinished: bool = False


def plan_restore(
    node: NodeState, last: LastWriteState | Unknown | None, overrule: Collection[str] = ()
) -> Restore:
    """What restoring does to this node, or every reason against it."""
    engine = node.docker_engine
    if engine is None:
        return Restore(Plan("", idle="no Docker engine on this node", engine=False))
    if isinstance(engine, Unknown):
        saw = Refusal("Docker engine", engine.reason, "it readable, as root")
        return Restore(Plan("", refusals=(saw,)))
    found = way(node.daemon_json, last)
    if isinstance(found, Refused):
        return Restore(Plan("", of_node(node).path, refusals=(as_refusal(found),)))
    if found:
        return _back(node, engine, found, last, overrule)
    if unfinished := _unfinished(node, last):
        return _back(node, engine, unfinished, last, overrule)
    idle = "daemon.json is as it was before this project's last write, or it wrote none"
    return Restore(Plan("", idle=idle, engine=False))


def _unfinished(node: NodeState, last: LastWriteState | Unknown | None) -> Way | None:
    """A file that was put back, is still so, and that no restart has proven: no step, in place."""
    if not isinstance(last, LastWriteState) or not (last.restored and last.unproven):
        return None
    files = node.daemon_json
    file = None if isinstance(files, Unknown) else files.at(last.path)
    content = file.content if file else None
    if isinstance(content, Unknown) or _sum(content) != last.after_sum:
        return None
    return Way(last.path, content, content)


def _back(
    node: NodeState,
    engine: DockerEngineState,
    found: Way,
    last: LastWriteState | Unknown | None,
    overrule: Collection[str],
) -> Restore:
    target = driver_with(found.after, node, found.path)
    if isinstance(target, Refused):
        return Restore(Plan("", found.path, refusals=(as_refusal(target),)))
    driver, named = target
    info = engine.info if isinstance(engine.info, EngineInfo) else None
    live = info.cgroup_driver if info else ""
    cost = (
        restart_impact(node, engine, found.after or b"", driver)
        if live != driver
        else RestartImpact()
    )
    against = (
        *engine_refusals(node, engine, driver),
        *cost.against,
        *_stoppers(node, found, driver),
        *(unproven_config(node, engine, last) if live != driver else ()),
    )
    in_place = found.after == found.before
    made = Plan(
        driver,
        found.path,
        not_overruled(against, overrule),
        found.before,
        None if in_place else found.after or b"",
        live != driver,
        cost.live_restore,
        cost.stops,
        work=node.gpu_processes,
        idle=f"the file of before is in place, and the engine is on {live}" if in_place else "",
        restores=True,
    )
    return Restore(made, named, unfinished=in_place)


def _stoppers(node: NodeState, found: Way, driver: str) -> Iterator[Refusal]:
    """What the engine would not start with: a file of before may have been broken already."""
    config = document(found.after, found.path)
    value = config.value if isinstance(config, Document) else {}
    engine = of_node(node)
    for name, unknown in engine.unknowns():
        yield Refusal(name, unknown.reason, "to know its flags")
    for one in (*engine.obstacles(value, driver), *engine.later_obstacles(value)):
        yield replace(as_refusal(one), subject=f"{found.path} of before, {one.subject}")


def _sum(content: bytes | None) -> str:
    return "absent" if content is None else hashlib.sha256(content).hexdigest()
