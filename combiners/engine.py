"""Docker's engine, as it runs and as it starts next: which dockerd, file, arguments, and why not.

The next start is that of docker.service as systemd has loaded it; the one after a daemon-reload may
be another, where a drop-in lies on the disk that was not loaded yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyinfra_nvml.combiners.daemon_document import Refused
from pyinfra_nvml.combiners.engine_config import given_flags, live_restore, obstacles
from pyinfra_nvml.facts.daemon_json import DEFAULT
from pyinfra_nvml.facts.daemons import Daemon, DaemonsState, option
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo, EngineUnit
from pyinfra_nvml.facts.docker_unit import DockerUnitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown


@dataclass(frozen=True)
class Start:
    """One start of dockerd: its command line, and by it the file that it reads.

    .. code:: python

        Start(("/usr/bin/dockerd", "-H", "fd://", "--exec-opt", "native.cgroupdriver=systemd"))
    """

    arguments: tuple[str, ...]

    @property
    def path(self) -> str:
        """The daemon.json that it reads."""
        return option(self.arguments, "--config-file") or DEFAULT

    def keeps_containers(self, config: Mapping[str, object]) -> bool:
        """Whether live-restore is on with this file, by the file or by a flag."""
        return live_restore(config, self.arguments)

    def value(self, key: str, config: Mapping[str, object]) -> object:
        """What a setting is with this file: the file's value, or the flag's."""
        return config.get(key) or option(self.arguments, f"--{key}")


@dataclass(frozen=True)
class Engine:
    """The running dockerd (``None``: none runs), its next start, and the one after a reload.

    ``after_reload`` is ``None`` where systemd has loaded what lies on the disk. ``version`` is
    empty where the engine did not say it, ``swarm`` whether the node has state of a swarm.
    """

    running: Start | Unknown | None
    next: Start | Unknown
    after_reload: Start | Unknown | None = None
    version: str = ""
    swarm: bool = False

    @property
    def path(self) -> str:
        """The daemon.json that the next start reads; the running one's where that is not known."""
        known = (start for start in (self.next, self.running) if isinstance(start, Start))
        return next((start.path for start in known), DEFAULT)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command line of the next start; empty where it is not known."""
        return self.next.arguments if isinstance(self.next, Start) else ()

    def obstacles(self, config: Mapping[str, object], driver: str = "") -> tuple[Refused, ...]:
        """What the next start fails on with this file, and with this driver by default."""
        return obstacles(config, self.arguments, self.version, self.swarm, driver)

    def later_obstacles(self, config: Mapping[str, object]) -> tuple[Refused, ...]:
        """What only the start after a daemon-reload fails on."""
        if not isinstance(self.after_reload, Start):
            return ()
        later = obstacles(config, self.after_reload.arguments, self.version, self.swarm)
        return tuple(one for one in later if one not in self.obstacles(config))

    @property
    def changed_flags(self) -> tuple[str, ...]:
        """Flags that the start after a daemon-reload has, and the next has not or has otherwise."""
        if not isinstance(self.after_reload, Start):
            return ()
        now, later = self.arguments, self.after_reload.arguments
        flags = {**given_flags(now), **given_flags(later)}
        flags["config-file"] = "--config-file"
        return tuple(flag for key, flag in flags.items() if _differs(key, flag, now, later))

    @property
    def new_flags(self) -> tuple[str, ...]:
        """Flags of the next start that the running engine was not started with, or otherwise.

        Not those that are judged by themselves, nor a value that is not known.
        """
        if not isinstance(self.running, Start) or not isinstance(self.next, Start):
            return ()
        now, later = self.running.arguments, self.next.arguments
        known = given_flags(now)
        return tuple(
            flag
            for key, flag in given_flags(later).items()
            if key not in _JUDGED and (key not in known or _other_value(flag, now, later))
        )

    def unknowns(self) -> Iterator[tuple[str, Unknown]]:
        """What of its starts could not be told, each with the name that it has for people."""
        if isinstance(self.next, Unknown) and self.running is not None:
            yield "next start of dockerd", self.next
        elif isinstance(self.after_reload, Unknown):
            yield "start after a daemon-reload (docker.service)", self.after_reload

    def to_validate(self) -> tuple[str, ...]:
        """The command line to ask ``dockerd --validate`` with, of a running engine's next start.

        Of options in variables the values are not known: where the running engine has the same
        flags, its whole command line stands for them, else those without a value are left out. A
        program that starts dockerd itself is not run.
        """
        if not isinstance(self.running, Start):
            return ()
        if not isinstance(self.next, Start):
            return self.running.arguments
        program = self.arguments[0].rpartition("/")[2] if self.arguments else ""
        if not program.startswith("dockerd") or _alike(self.running, self.next):
            return self.running.arguments
        return tuple(_with_values(self.arguments))


_JUDGED = ("exec-opts", "live-restore", "runtimes", "default-runtime", "data-root", "cgroup-parent")
"""Keys that obstacles, and the cost of a restart, look at whatever they are given by."""


def of_node(node: NodeState) -> Engine:
    """The engine of this node; unknown in all where there is none."""
    engine = node.docker_engine
    if not isinstance(engine, DockerEngineState):
        why = engine or Unknown("no Docker engine on this node")
        return Engine(None, why)
    return engine_of(engine, node.docker_unit)


def engine_of(engine: DockerEngineState, unit: DockerUnitState | Unknown) -> Engine:
    """The engine that answers, and its starts by the unit."""
    info = engine.info if isinstance(engine.info, EngineInfo) else None
    made = starts(engine.process, unit, engine.unit)
    return Engine(
        made.running,
        made.next,
        made.after_reload,
        info.server_version if info else "",
        info.in_swarm if info else False,
    )


def starts(
    process: Daemon | Unknown | None,
    setup: DockerUnitState | Unknown,
    unit: EngineUnit | Unknown | None = None,
) -> Engine:
    """The starts of this dockerd: by its unit where it has one, else as it was started before."""
    running = Start(process.arguments) if isinstance(process, Daemon) else process
    if isinstance(process, Daemon) and process.snap:
        return Engine(running, Start(process.arguments))
    planned = setup if isinstance(setup, Unknown) else setup.arguments
    if planned is None:
        return Engine(running, running or Unknown("no dockerd runs and no unit names its flags"))
    if isinstance(planned, Unknown):
        return Engine(running, planned)
    return Engine(running, Start(planned), _after_reload(setup, unit))


def _after_reload(
    setup: DockerUnitState | Unknown, unit: EngineUnit | Unknown | None
) -> Start | Unknown | None:
    shown = unit.properties.get("NeedDaemonReload") if isinstance(unit, EngineUnit) else None
    if isinstance(setup, Unknown) or setup.after_reload is None:
        return None
    if isinstance(setup.after_reload, Unknown):
        return None if shown == "no" else setup.after_reload
    return Start(setup.after_reload)


def engine_of_root(daemons: DaemonsState) -> Daemon | Refused | None:
    """The one dockerd whose file this is; ``None`` where none runs, and the default is meant."""
    running = daemons.named("dockerd")
    of_root = [daemon for daemon in running if daemon.uid <= 0]
    # Between fork and exec a child of dockerd still looks like it; two engines with one command
    # line cannot be: they would share a pid file and a data directory.
    if len({daemon.arguments for daemon in of_root}) > 1:
        pids = ", ".join(str(daemon.pid) for daemon in of_root)
        return Refused("dockerd", f"{len(of_root)} of them (pids {pids})", "one on this node")
    if running and not of_root:
        owner = f"it runs as user {running[0].uid} (rootless: it reads another file)"
        return Refused("dockerd", owner, "the engine of root")
    return of_root[0] if of_root else None


def _differs(key: str, flag: str, now: Sequence[str], later: Sequence[str]) -> bool:
    if key == "exec-opts":
        return _driver(Start(tuple(now))) != _driver(Start(tuple(later)))
    if key == "live-restore":
        return live_restore({}, now) != live_restore({}, later)
    if key in ("config-file", "data-root", "default-runtime", "cgroup-parent"):
        return option(now, flag) != option(later, flag)
    return (key in given_flags(now)) != (key in given_flags(later))


def _other_value(flag: str, now: Sequence[str], later: Sequence[str]) -> bool:
    before, after = option(now, flag), option(later, flag)
    if before is None or after is None:
        return False
    return before != after and not before.startswith("-") and not after.startswith("-")


def _alike(one: Start, other: Start) -> bool:
    """Whether both name the same flags, and the same file and driver by them."""
    same = given_flags(one.arguments) == given_flags(other.arguments)
    return same and one.path == other.path and _driver(one) == _driver(other)


def _driver(start: Start) -> tuple[str, ...]:
    return tuple(word for word in start.arguments if "native.cgroupdriver=" in word)


def _with_values(arguments: Sequence[str]) -> Iterator[str]:
    """The program and the arguments that need no value of a variable."""
    rest = [*arguments[1:], "-"]
    yield arguments[0]
    for place, word in enumerate(rest[:-1]):
        alone = word.startswith("-") and "=" not in word
        if not (alone and rest[place + 1].startswith("-")):
            yield word
