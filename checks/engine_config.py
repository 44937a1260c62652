"""Docker's engine will start again with the configuration it has.

A running dockerd does not read daemon.json again. What somebody wrote there since is tried at the
next restart, reboot or package update, and may stop the engine then. `dockerd --validate` accepts
an unknown cgroup driver, a setting both in the file and on the command line, a default runtime that
nobody defined, and live-restore in a swarm.

Bad:

    /etc/docker/daemon.json   {"exec-opts": ["native.cgroupdriver=cgroupfs"]}
    docker.service            dockerd --exec-opt native.cgroupdriver=systemd

Good:

    /etc/docker/daemon.json   {"exec-opts": ["native.cgroupdriver=cgroupfs"]}
    docker.service            dockerd -H fd://

Repair: by hand: correct the file or the unit. Nothing stops as long as nothing is restarted.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.daemon_document import Refused, document
from pyinfra_nvml.combiners.engine_config import obstacles
from pyinfra_nvml.facts.daemon_json import DEFAULT
from pyinfra_nvml.facts.daemons import Daemon, option
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Doubt, Finding, Level, NotApplicable, Outcome
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """What the engine's next start would fail on."""
    engine = node.docker_engine
    if engine is None:
        yield NotApplicable("no Docker engine on this node")
    elif isinstance(engine, Unknown):
        yield Doubt("container engine", engine.reason)
    elif node.podman:
        yield NotApplicable("docker is podman here: it reads no daemon.json")
    elif elsewhere := _elsewhere(engine):
        yield NotApplicable(elsewhere)
    else:
        arguments = _arguments(node, engine)
        if isinstance(arguments, Unknown):
            yield Doubt("dockerd's command line", arguments.reason)
        else:
            yield from _file(node, engine, arguments)


def _elsewhere(engine: DockerEngineState) -> str:
    """Why this node's daemon.json is not the engine's."""
    info, process = engine.info, engine.process
    if isinstance(info, EngineInfo) and info.desktop:
        return "Docker Desktop: the engine is not on this node"
    if isinstance(info, EngineInfo) and info.rootless:
        return "a rootless engine reads its user's file"
    unit = engine.unit
    loaded = unit is not None and not isinstance(unit, Unknown) and unit.loaded
    if process is None and not loaded and not isinstance(unit, Unknown):
        return "the docker client, but no engine on this node"
    return ""


def _arguments(node: NodeState, engine: DockerEngineState) -> tuple[str, ...] | Unknown:
    """dockerd's next command line: the unit's where it runs as one, else that of the process."""
    process, setup = engine.process, node.docker_unit
    running = process.arguments if isinstance(process, Daemon) else ()
    if isinstance(process, Daemon) and process.snap:
        return running
    planned = setup if isinstance(setup, Unknown) else setup.arguments
    if planned is not None:
        return planned
    if isinstance(process, Unknown):
        return process
    return running or Unknown("no dockerd runs and no unit names its flags")


def _file(
    node: NodeState, engine: DockerEngineState, arguments: tuple[str, ...]
) -> Iterator[Outcome]:
    path = option(arguments, "--config-file") or DEFAULT
    files = node.daemon_json
    file = files if isinstance(files, Unknown) else files.at(path)
    if file is None:
        yield Doubt(path, "the next start reads it, and it was not read here")
        return
    content = file if isinstance(file, Unknown) else file.content
    if isinstance(content, Unknown):
        yield Doubt(path, content.reason)
        return
    read = document(content, path)
    if isinstance(read, Refused):
        yield _finding(engine, path, read)
        return
    info = engine.info if isinstance(engine.info, EngineInfo) else None
    version, swarm = (info.server_version, info.swarm == "active") if info else ("", False)
    for refused in obstacles(read.value, arguments, version, swarm):
        yield _finding(engine, path, refused)


def _finding(engine: DockerEngineState, path: str, refused: Refused) -> Finding:
    # Go's decoder takes the last of two equal keys and says nothing (encoding/json, Unmarshal).
    twice = refused.saw.endswith("a second time")
    down = engine.process is None
    level = Level.ADVICE if twice else Level.BROKEN if down else Level.AT_RISK
    return Finding(
        level=level,
        subject=path if refused.subject.startswith("/") else f"{path}, {refused.subject}",
        saw=f"{refused.subject}: {refused.saw}" if refused.subject.startswith("/") else refused.saw,
        want=refused.want,
        why="dockerd takes the last one without a word, whichever was meant"
        if twice
        else "the engine does not start with it"
        if down
        else "the engine runs with what it read before; its next start fails (restart, reboot,"
        " package update)",
        repair=Repair.HUMAN,
        do="correct it, then audit again; a restart of docker proves it",
        avoid="restarting docker, or the node, before that",
        reference="https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file",
    )
