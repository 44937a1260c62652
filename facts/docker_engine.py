"""The Docker engine of this node: what it says of itself, and what its unit starts."""

from __future__ import annotations

import json
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.daemons import Daemon, Daemons, DaemonsState
from pyinfra_nvml.facts.docker_cli import GUARD
from pyinfra_nvml.facts.json_values import mapping, text, texts
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

_UNIT_PROPERTIES = (
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "MainPID",
    "FragmentPath",
    "DropInPaths",
    "ActiveEnterTimestamp",
    "TimeoutStopUSec",
    "NeedDaemonReload",
)


@dataclass(frozen=True)
class EngineInfo(Value):
    """What ``docker info --format '{{json .}}'`` says.

    .. code:: python

        EngineInfo(server_version="26.1.5+dfsg1", cgroup_driver="systemd", cgroup_version="2",
                   live_restore=False, security_options=("name=seccomp,profile=builtin",),
                   runtimes=("io.containerd.runc.v2", "runc"), default_runtime="runc",
                   swarm="inactive", operating_system="Debian GNU/Linux 13 (trixie)", ...)
    """

    server_version: str
    cgroup_driver: str
    cgroup_version: str
    live_restore: bool
    security_options: tuple[str, ...]
    runtimes: tuple[str, ...]
    default_runtime: str
    swarm: str
    operating_system: str
    root_directory: str
    runc: str
    cdi_directories: tuple[str, ...]
    warnings: tuple[str, ...]
    storage_driver: str = ""
    log_driver: str = ""

    @property
    def in_swarm(self) -> bool:
        """Whether the node has state of a swarm: every state but inactive (``docker info``)."""
        return self.swarm not in ("", "inactive")

    @property
    def snap(self) -> bool:
        """Whether it is the docker snap: its containers are under /var/snap."""
        return self.root_directory.startswith("/var/snap/")

    @property
    def desktop(self) -> bool:
        """Whether it is Docker Desktop's, which runs in a machine or distribution of its own."""
        return self.operating_system == "Docker Desktop"

    @property
    def rootless(self) -> bool:
        """Whether dockerd runs without root: it lists ``name=rootless``."""
        return any(option.startswith("name=rootless") for option in self.security_options)


@dataclass(frozen=True)
class EngineUnit(Value):
    """docker.service as systemd shows it: properties of systemctl(1), ``show``.

    .. code:: python

        EngineUnit({"LoadState": "loaded", "ActiveState": "active", "MainPID": "612", ...})
    """

    properties: dict[str, str]

    @property
    def loaded(self) -> bool:
        """Whether systemd has such a unit (systemctl(1), ``LoadState``)."""
        return self.properties.get("LoadState") == "loaded"


@dataclass(frozen=True)
class DockerEngineState(Value):
    """The engine: its own words, the unit, and the running dockerd with its real command line."""

    info: EngineInfo | Unknown
    unit: EngineUnit | Unknown | None
    process: Daemon | Unknown | None

    @property
    def arguments(self) -> tuple[str, ...]:
        """dockerd's real command line; empty where none is seen to run."""
        return self.process.arguments if isinstance(self.process, Daemon) else ()


class DockerEngine(Source[DockerEngineState | None]):
    """The Docker engine of this node, or ``None`` where there is none.

    Sources: ``docker info`` (Docker 20.10 to 29; moby api/types/system/info.go), ``systemctl show
    docker.service``, /proc. Without root or the docker group ``info`` is unknown.
    """

    probes = (
        Probe("docker_engine.info", GUARD + "docker info --format '{{json .}}'", cap=4096),
        Probe(
            "docker_engine.unit",
            f"systemctl show docker.service -p {','.join(_UNIT_PROPERTIES)}",
        ),
        *Daemons.probes,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> DockerEngineState | Unknown | None:
        info = section(sections, "docker_engine.info")
        unit = _unit(section(sections, "docker_engine.unit"))
        said = _info(info)
        process = _dockerd(Daemons.judged(sections), unit, said)
        installed = info.rc != 127 or process or (isinstance(unit, EngineUnit) and unit.loaded)
        if not installed:
            return next((part for part in (process, unit) if isinstance(part, Unknown)), None)
        return DockerEngineState(said, unit, process)


Engine = DockerEngine  # the name before 0.2


def _info(answer: Section) -> EngineInfo | Unknown:
    if answer.cut or answer.lost:
        return answer.trouble or Unknown("docker info: not whole")
    try:
        said = json.loads(answer.out)
    except (ValueError, RecursionError):
        return answer.trouble or Unknown("docker info: its answer is not JSON")
    if not isinstance(said, dict):
        return Unknown("docker info: its answer is not a JSON object")
    # A client without a daemon prints its own half and lists why under ServerErrors.
    complaints = answer.said or "; ".join(texts(said.get("ServerErrors")))
    if answer.rc != 0 or not said.get("ServerVersion"):
        return Unknown(f"docker info: {complaints or 'no server version'}")
    return EngineInfo(
        server_version=text(said.get("ServerVersion")),
        cgroup_driver=text(said.get("CgroupDriver")),
        cgroup_version=text(said.get("CgroupVersion")),
        live_restore=said.get("LiveRestoreEnabled") is True,
        security_options=texts(said.get("SecurityOptions")),
        runtimes=_keys(said.get("Runtimes")),
        default_runtime=text(said.get("DefaultRuntime")),
        swarm=text(mapping(said.get("Swarm")).get("LocalNodeState")),
        operating_system=text(said.get("OperatingSystem")),
        root_directory=text(said.get("DockerRootDir")),
        runc=text(mapping(said.get("RuncCommit")).get("ID")),
        cdi_directories=texts(said.get("CDISpecDirs")),
        warnings=texts(said.get("Warnings")),
        storage_driver=text(said.get("Driver")),
        log_driver=text(said.get("LoggingDriver")),
    )


def _unit(answer: Section) -> EngineUnit | Unknown | None:
    # "System has not been booted with systemd as init system (PID 1). Can't operate."
    if answer.rc == 127 or "not been booted with systemd" in answer.err:
        return None
    if answer.trouble:
        return answer.trouble
    pairs = (line.partition("=") for line in answer.out.splitlines())
    properties = {key: value for key, equals, value in pairs if equals}
    if "LoadState" not in properties:
        return Unknown("systemctl show docker.service: no LoadState in its answer")
    return EngineUnit(properties)


def _dockerd(
    daemons: DaemonsState | Unknown,
    unit: EngineUnit | Unknown | None,
    info: EngineInfo | Unknown,
) -> Daemon | Unknown | None:
    """The dockerd that answered, where several run; else the unit's, else root's."""
    if isinstance(daemons, Unknown):
        return daemons
    running = list(daemons.named("dockerd"))
    if isinstance(info, EngineInfo):
        running = [
            d for d in running if d.snap == info.snap and (d.uid > 0) == info.rootless
        ] or running
    main = unit.properties.get("MainPID") if isinstance(unit, EngineUnit) else None
    running.sort(key=lambda daemon: (str(daemon.pid) != main, daemon.uid > 0, daemon.snap))
    if running:
        return running[0]
    return Unknown("dockerd: /proc hides other users' processes") if daemons.hidden else None


def _keys(value: object) -> tuple[str, ...]:
    return tuple(sorted(str(key) for key in mapping(value)))
