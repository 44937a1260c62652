"""The Docker engine: restarted only where its driver is not the wanted one, and never half."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence

from pyinfra import logger
from pyinfra.api import FunctionCommand, Host, State
from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host

from pyinfra_nvml.combiners.engine import engine_of
from pyinfra_nvml.facts.daemon_json import DaemonJson
from pyinfra_nvml.facts.daemons import Daemons
from pyinfra_nvml.facts.docker_engine import DockerEngine, DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_unit import DockerUnit, DockerUnitState
from pyinfra_nvml.facts.interrupted import Interrupted
from pyinfra_nvml.facts.last_restart import LastRestart
from pyinfra_nvml.facts.state_directory import STATE_DIR
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import node
from pyinfra_nvml.operations.daemon_json import command_line
from pyinfra_nvml.operations.restart_result import Return, parse_restart
from pyinfra_nvml.plans.daemon_change import FileChange, plan_change

_TRANSACTION = (
    "say",
    "state",
    "lock",
    "replace",
    "engine",
    "containers",
    "undo",
    "restart_docker",
)
_LONGEST_STOP = 600
"""Seconds; the script waits no longer for a stop, whatever the unit's TimeoutStopSec."""
_CONTAINERS = 900
"""Seconds to start the containers that ran before, one by one."""
_BEGIN = ("say", "state", "lock", "validate", "begin_restart")


@operation()
def running_driver(
    driver: str = "cgroupfs",
    state_dir: str = STATE_DIR,
    timeout: int = 300,
    named: bool = True,
) -> Generator[StringCommand | FunctionCommand, None, None]:
    """
    Restarts Docker where its live cgroup driver is not the wanted one.

    + driver: ``cgroupfs`` or ``systemd``; ``daemon_json.configured_driver`` has to have written it
    + state_dir: where the node keeps backups, the list of what ran, results, for root alone
    + timeout: seconds that the engine may take to answer again after its stop
    + named: False where the driver is what this engine takes without an entry in daemon.json

    One transaction on the node, which ends although the connection breaks: it notes what runs,
    restarts, looks at the live driver, starts what ran before and is not back. If the engine does
    not come up with the driver, it puts the daemon.json from before back and brings the engine
    up with it. A transaction that was interrupted is ended first. Needs root.

    **Example:**

    .. code:: python

        docker_engine.running_driver(name="Docker runs without systemd's cgroups")
    """
    engine = host.get_fact(DockerEngine)
    interrupted = host.get_fact(Interrupted, state_dir=state_dir)
    if engine is None:
        host.noop("no Docker engine on this node")
    elif isinstance(engine, DockerEngineState) and _live(engine) == driver and interrupted is False:
        host.noop(f"the engine's cgroup driver is {driver}")
    elif reasons := _against(engine, interrupted, driver, named):
        yield node.refuse(*reasons)
    else:
        yield _transaction(engine, driver, state_dir, timeout)
        yield FunctionCommand(_tell_new, (state_dir,), {})


@operation()
def brought_back(
    state_dir: str = STATE_DIR, timeout: int = 300
) -> Generator[StringCommand, None, None]:
    """
    What ran before an interrupted restart or a reboot runs again.

    + state_dir: where the node keeps the list of what ran, for root alone
    + timeout: seconds that the engine may take to answer

    The engine keeps the cgroup driver that it has. Needs root.

    **Example:**

    .. code:: python

        docker_engine.brought_back(name="Containers from before the reboot run again")
    """
    engine = host.get_fact(DockerEngine)
    interrupted = host.get_fact(Interrupted, state_dir=state_dir)
    if isinstance(interrupted, Unknown):
        yield node.refuse(f"docker: {interrupted.reason}")
    elif not interrupted:
        host.noop("nothing that ran before is down")
    elif not isinstance(engine, DockerEngineState) or not (driver := _live(engine)):
        saw = "no engine" if engine is None else "an engine that does not answer"
        yield node.refuse(f"docker: saw {saw}, want it up to start what ran before")
    else:
        yield _transaction(engine, driver, state_dir, timeout)


def _transaction(
    engine: DockerEngineState | Unknown, driver: str, state_dir: str, timeout: int
) -> StringCommand:
    unit = host.get_fact(DockerUnit)
    transaction = node.script(*_TRANSACTION)
    total = hashlib.sha256(transaction.encode()).hexdigest()
    arguments = (state_dir, driver, str(timeout), total, *_to_validate(engine, unit))
    limit = 2 * (_LONGEST_STOP + timeout) + _CONTAINERS
    return node.run(node.script(*_BEGIN), *arguments, stdin=transaction, limit=limit)


def _tell_new(state: State, host: Host, state_dir: str) -> bool:  # noqa: ARG001
    """Names the containers that run only now: a policy ``always`` starts what was stopped too."""
    lines = host.get_fact(LastRestart, state_dir=state_dir, _ignore_errors=True)
    for one in () if isinstance(lines, Unknown) else parse_restart(lines or ()).containers:
        if one.how is Return.NEW:
            why = f"its policy {one.policy} starts it with the engine"
            host.log(f"container {one.name}: runs now and did not before: {why}", logger.info)
    return True


def _live(engine: DockerEngineState) -> str | None:
    """The driver that the running engine uses; ``None`` where it does not answer."""
    return None if isinstance(engine.info, Unknown) else engine.info.cgroup_driver


def _to_validate(engine: DockerEngineState | Unknown, unit: DockerUnitState | Unknown) -> list[str]:
    """File and command line of the next start; nothing where no engine runs that could be lost."""
    if not isinstance(engine, DockerEngineState):
        return []
    starts = engine_of(engine, unit)
    arguments = starts.to_validate()
    return [starts.path, *command_line(arguments)] if arguments else []


def _against(
    engine: DockerEngineState | Unknown, interrupted: bool | Unknown, driver: str, named: bool
) -> Sequence[str]:
    """Why a restart would do harm, or no good."""
    unknown = [value.reason for value in (engine, interrupted) if isinstance(value, Unknown)]
    if unknown:
        return [f"docker: {reason}" for reason in unknown]
    info = engine.info if isinstance(engine, DockerEngineState) else None
    if isinstance(info, EngineInfo) and info.cgroup_driver == driver:
        return ()
    version = info.server_version if isinstance(info, EngineInfo) else ""
    files, daemons = host.get_fact(DaemonJson), host.get_fact(Daemons)
    unit = host.get_fact(DockerUnit)
    planned = plan_change(files, daemons, unit, driver, restart=True, version=version)
    if isinstance(planned, FileChange):
        if not named:
            return ()
        return [f"{planned.path}: saw another cgroup driver in it, want {driver} written first"]
    return planned or ()
