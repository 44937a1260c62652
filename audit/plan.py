"""What deploys/fix_cgroup.py would do to a node: changes with their cost, or every refusal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from audit.daemon_document import Document, Refused, document
from audit.driver_entry import Candidate, named_drivers, with_driver
from audit.engine_config import given_flags, obstacles
from audit.exposure import exposed
from audit.refusals import Refusal, refusals, risks, standing
from audit.release import release
from facts.daemon_json import DEFAULT, ConfigFile
from facts.daemons import Daemon
from facts.docker_engine import DockerEngine, EngineInfo
from facts.docker_inspect import Inspected
from facts.gpu_containers import GpuContainer
from facts.gpu_processes import GpuWork
from facts.node import NodeState
from facts.unknown import Unknown


@dataclass(frozen=True)
class Plan:
    """The way of one node to the wanted driver.

    ``write`` and ``restart`` say which steps are needed; ``idle`` says why none is. ``stops`` are
    the containers that a restart stops, ``exposed`` those that are to be proven afterwards. With an
    ``engine`` and nothing to do, a restart that was interrupted may still have to be ended.
    """

    driver: str
    path: str = DEFAULT
    refusals: tuple[Refusal, ...] = ()
    before: bytes | None = None
    after: bytes | None = None
    restart: bool = False
    live_restore: bool = False
    stops: tuple[Inspected, ...] = ()
    exposed: tuple[GpuContainer, ...] = ()
    work: GpuWork | Unknown | None = None
    idle: str = ""
    engine: bool = True
    restores: bool = False

    @property
    def write(self) -> bool:
        return self.after is not None and not self.refusals

    @property
    def acts(self) -> bool:
        return (self.write or self.restart or bool(self.exposed)) and not self.refusals


def plan(
    node: NodeState, driver: str, only_exposed: bool = False, overrule: Collection[str] = ()
) -> Plan:
    """The plan for one node; nothing that could not be read is taken to be fine."""
    engine = node.engine
    if engine is None:
        return Plan(driver, idle="no Docker engine on this node", engine=False)
    if isinstance(engine, Unknown):
        return Plan(driver, refusals=(_unread("Docker engine", engine),))
    endangered = _exposed(node)
    if only_exposed and not endangered and not _unseen(node):
        return Plan(driver, idle="only_exposed: no container is exposed", engine=False)
    if isinstance(engine.info, EngineInfo) and _settled(engine, engine.info, node, driver):
        idle = "" if endangered else f"the engine is on {driver} already"
        return Plan(driver, path=config_path(engine), exposed=endangered, idle=idle)
    made = _change(node, engine, driver, endangered)
    return replace(made, refusals=standing(made.refusals, overrule))


def config_path(engine: DockerEngine) -> str:
    """The daemon.json that this engine reads."""
    process = engine.process
    return (isinstance(process, Daemon) and process.option("--config-file")) or DEFAULT


def _change(
    node: NodeState, engine: DockerEngine, driver: str, endangered: tuple[GpuContainer, ...]
) -> Plan:
    path = config_path(engine)
    reasons = list(refusals(node, engine, driver))
    file = _file(node, path)
    if isinstance(file, Refusal):
        return Plan(driver, path, (*reasons, file))
    before = file.content if isinstance(file.content, bytes) else None
    candidate = with_driver(before, driver, path)
    if isinstance(candidate, Refused):
        return Plan(driver, path, (*reasons, _refusal(candidate)))
    reasons += _obstacles(candidate, engine, path)
    reasons += pending(candidate.content, engine, path)
    info = engine.info
    live = info.cgroup_driver if isinstance(info, EngineInfo) else ""
    restart = live != driver
    live_restore = keeps_running(candidate.content, engine, path)
    stops = stopped(node, engine, live_restore) if restart else ()
    if isinstance(stops, Refusal):
        reasons.append(stops)
        stops = ()
    if restart:
        reasons += risks(node, stops)
    return Plan(
        driver,
        path,
        tuple(reasons),
        before,
        candidate.content if candidate.changed else None,
        restart,
        live_restore,
        stops,
        endangered,
        node.gpu_work if restart else None,
    )


def _settled(engine: DockerEngine, info: EngineInfo, node: NodeState, driver: str) -> bool:
    """Whether the engine has the driver now and nothing names another for its next start."""
    if info.cgroup_driver != driver:
        return False
    file = _file(node, config_path(engine))
    if isinstance(file, Refusal):
        return False
    content = file.content if isinstance(file.content, bytes) else None
    read = document(content, file.path)
    if isinstance(read, Refused):
        return False
    return all(named == driver for named in named_drivers(read))


def _file(node: NodeState, path: str) -> ConfigFile | Refusal:
    files = node.daemon_json
    if isinstance(files, Unknown):
        return _unread(path, files)
    file = files.at(path)
    if file is None:
        return _unread(path, Unknown("it was not asked for"))
    if isinstance(file.content, Unknown):
        return _unread(path, file.content)
    return file


def _obstacles(candidate: Candidate, engine: DockerEngine, path: str) -> list[Refusal]:
    read = document(candidate.content, path)
    if isinstance(read, Refused):
        return [_refusal(read)]
    info = engine.info if isinstance(engine.info, EngineInfo) else None
    found = obstacles(
        read.value,
        engine.arguments,
        info.server_version if info else "",
        bool(info and info.swarm == "active"),
    )
    flag = given_flags(engine.arguments).get("exec-opts", "")
    instead = f"take {flag} out of the unit, then run this again" if flag else ""
    return [_refusal(one, instead if one.subject == "exec-opts" else "") for one in found]


def keeps_running(content: bytes, engine: DockerEngine, path: str) -> bool:
    """Whether containers outlive a restart: live-restore is on now, and in the file read then."""
    if not (isinstance(engine.info, EngineInfo) and engine.info.live_restore):
        return False
    read = document(content, path)
    named = isinstance(read, Document) and read.value.get("live-restore") is True
    flags = ("--live-restore", "--live-restore=true")
    return named or any(argument in flags for argument in engine.arguments)


def pending(content: bytes, engine: DockerEngine, path: str) -> list[Refusal]:
    """An edit that the engine has not seen yet and that its restart would make costly."""
    read = document(content, path)
    root = read.value.get("data-root") if isinstance(read, Document) else None
    info = engine.info
    if not isinstance(info, EngineInfo) or not isinstance(root, str) or not info.root_directory:
        return []
    # With userns-remap the engine's own directory is one below data-root (dockerd(8)).
    if f"{info.root_directory}/".startswith(f"{root.rstrip('/')}/"):
        return []
    saw = f"data-root {root}, and an engine whose containers are in {info.root_directory}"
    instead = "restart docker by hand when its containers and images may go"
    return [Refusal(path, saw, "both alike", instead, "data-root")]


def stopped(
    node: NodeState, engine: DockerEngine, live_restore: bool
) -> tuple[Inspected, ...] | Refusal:
    """The containers that a restart of this engine stops."""
    if isinstance(engine.info, EngineInfo) and live_restore and _keeps_removable(engine.info):
        return ()
    if isinstance(node.running, Unknown):
        return _unread("running containers", node.running)
    return tuple(one for one in node.running.containers if one.auto_remove or not live_restore)


def _keeps_removable(info: EngineInfo) -> bool:
    """Whether live-restore keeps --rm containers: 20.10.24 removed one at its start, 26.1.5 not."""
    return (release(info.server_version) or ()) >= (23,)


def _exposed(node: NodeState) -> tuple[GpuContainer, ...]:
    """Docker's own containers that have lost a device, or that systemd would take one from."""
    found = node.gpu_containers
    if isinstance(found, Unknown):
        return ()
    return tuple(one for one in found.containers if one.engine == "docker" and exposed(one))


def _unseen(node: NodeState) -> bool:
    found = node.gpu_containers
    return isinstance(found, Unknown) or bool(found.unseen)


def _unread(subject: str, unknown: Unknown) -> Refusal:
    return Refusal(subject, unknown.reason, "it readable, as root and with the engine up")


def _refusal(refused: Refused, instead: str = "") -> Refusal:
    return Refusal(refused.subject, refused.saw, refused.want, instead)
