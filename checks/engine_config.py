"""Docker's engine will start again with the configuration it has.

A running dockerd does not read daemon.json again. What somebody wrote there since is tried at the
next restart, reboot or package update, and may stop the engine then. `dockerd --validate` accepts
an unknown cgroup driver, a setting both in the file and on the command line, a default runtime that
nobody defined, and live-restore in a swarm. A drop-in that systemd has not loaded yet counts for
the start after the next daemon-reload. What no engine was started with yet, and nothing else
proves, is told as unknown, and so is a file that the running engine does not follow.

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
from dataclasses import replace

from pyinfra_nvml.combiners.daemon_document import Refused, document
from pyinfra_nvml.combiners.engine import Engine, Start, of_node
from pyinfra_nvml.combiners.engine_proof import not_followed, unproven
from pyinfra_nvml.facts.daemon_json import ConfigFile
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """What the engine's next start would fail on."""
    engine = node.docker_engine
    if engine is None:
        yield NotApplicable("no Docker engine on this node")
    elif isinstance(engine, Unknown):
        yield Undetermined("container engine", engine.reason)
    elif node.podman:
        yield NotApplicable("docker is podman here: it reads no daemon.json")
    elif elsewhere := _elsewhere(engine):
        yield NotApplicable(elsewhere)
    else:
        yield from _starts(node, engine)


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


def _starts(node: NodeState, engine: DockerEngineState) -> Iterator[Outcome]:
    starts = of_node(node)
    if isinstance(starts.next, Unknown):
        yield Undetermined("dockerd's command line", starts.next.reason)
        return
    for name, unknown in starts.unknowns():
        yield Undetermined(name, unknown.reason)
    files = node.daemon_json
    file = files if isinstance(files, Unknown) else files.at(starts.path)
    if file is None:
        yield Undetermined(starts.path, "the next start reads it, and it was not read here")
        return
    content = file if isinstance(file, Unknown) else file.content
    if isinstance(file, Unknown) or isinstance(content, Unknown):
        yield Undetermined(starts.path, content.reason if isinstance(content, Unknown) else "")
        return
    read = document(content, starts.path)
    if isinstance(read, Refused):
        yield _finding(engine, starts.path, read)
        return
    found = tuple(_obstacles(engine, starts, read.value))
    yield from found
    # What the next start fails on is an edit, and tells why the engine does not follow the file.
    if starts.new_flags and not found:
        flags = ", ".join(starts.new_flags)
        reason = f"{flags}: the running engine was not started with it, and only a start proves it"
        yield Undetermined("docker.service", reason)
    if isinstance(engine.info, EngineInfo) and not found:
        yield from _proof(file, read.value, engine.info, starts.next)


def _obstacles(
    engine: DockerEngineState, starts: Engine, config: dict[str, object]
) -> Iterator[Finding]:
    for refused in starts.obstacles(config):
        yield _finding(engine, starts.path, refused)
    later = starts.later_obstacles(config)
    for refused in later:
        yield replace(
            _finding(engine, starts.path, refused),
            level=Level.AT_RISK,
            why="a unit file lies on the disk that systemd has not loaded: after the next"
            " daemon-reload the engine does not start",
        )
    if starts.changed_flags and not later:
        flags = ", ".join(starts.changed_flags)
        yield Finding(
            level=Level.ADVICE,
            subject="docker.service",
            saw=f"{flags} changed on the disk, and not loaded by systemd",
            want="the unit as it lies on the disk loaded, or the edit taken back",
            why="the start after the next daemon-reload has other settings than the next start",
            repair=Repair.MANUAL,
            do="decide whether the edit is meant: `systemctl cat docker` shows the files",
            avoid="a daemon-reload while containers are exposed (device-exposure)",
            reference="https://www.freedesktop.org/software/systemd/man/latest/systemctl.html",
        )


def _proof(
    file: ConfigFile, config: dict[str, object], info: EngineInfo, start: Start
) -> Iterator[Undetermined]:
    """What the engine does not do as the file says, and what nobody has started it with."""
    differences = not_followed(config, info, start)
    for difference in differences:
        yield Undetermined(
            "docker info", f"the running engine does not follow {start.path}: {difference}"
        )
    if not differences:
        for reason in unproven(file, info, start):
            yield Undetermined(start.path, reason)


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
        repair=Repair.MANUAL,
        do="correct it, then audit again; a restart of docker proves it",
        avoid="restarting docker, or the node, before that",
        reference="https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file",
    )
