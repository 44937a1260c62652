"""The configuration file of the Docker engine: changed at one entry, or left as it is."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Sequence

from pyinfra import logger
from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host, state
from pyinfra.operations.util.files import generate_color_diff

from pyinfra_nvml.combiners.daemon_document import Refused
from pyinfra_nvml.combiners.engine import engine_of_root, starts
from pyinfra_nvml.facts.daemon_json import DaemonJson
from pyinfra_nvml.facts.daemons import Daemons, DaemonsState
from pyinfra_nvml.facts.docker_unit import DockerUnit, DockerUnitState
from pyinfra_nvml.facts.last_write import LastWrite
from pyinfra_nvml.facts.state_directory import STATE_DIR
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import node
from pyinfra_nvml.plans import restore_plan as restore
from pyinfra_nvml.plans.daemon_change import FileChange, plan_change

_LIMIT = 300
"""Seconds: half a minute for another run to end, a slow disk, dockerd's own validation."""


@operation()
def configured_driver(
    driver: str = "cgroupfs", state_dir: str = STATE_DIR
) -> Generator[StringCommand, None, None]:
    """
    Names the cgroup driver in the daemon.json that this node's Docker engine reads.

    + driver: ``cgroupfs`` or ``systemd``
    + state_dir: where the node keeps backups and a journal, for root alone

    Only the driver's entry changes. A file that is right already stays byte for byte the same; one
    that cannot be changed safely stays too, and the host fails with every reason. It takes effect
    at the engine's next restart. Needs root.

    **Example:**

    .. code:: python

        daemon_json.configured_driver(name="Docker without systemd's cgroups", driver="cgroupfs")
    """
    files, daemons = host.get_fact(DaemonJson), host.get_fact(Daemons)
    planned = plan_change(files, daemons, host.get_fact(DockerUnit), driver)
    if planned is None:
        host.noop(f"daemon.json names the cgroup driver {driver}")
    elif isinstance(planned, FileChange):
        if state.config.DIFF:
            _show(planned)
        yield _write(planned, driver, state_dir)
    else:
        yield node.refuse(*planned)


@operation()
def restored(driver: str, state_dir: str = STATE_DIR) -> Generator[StringCommand, None, None]:
    """
    The daemon.json from before the last write of this project is in place again.

    + driver: the cgroup driver that the engine has with it, for the record
    + state_dir: where the node keeps backups and a journal, for root alone

    A file that was changed after that write is left as it is, and the host fails. What is taken
    out is kept among the backups. Needs root.

    **Example:**

    .. code:: python

        daemon_json.restored(name="Put back daemon.json", driver="systemd")
    """
    files, last = host.get_fact(DaemonJson), host.get_fact(LastWrite, state_dir=state_dir)
    way = restore.way(files, last)
    if way is None:
        host.noop("daemon.json is as it was before the last write")
    elif isinstance(way, Refused):
        yield node.refuse(str(way))
    elif way.after is None:
        source = node.script(
            "say", "state", "lock", "config_file", "restoring", "remove_daemon_json"
        )
        before = hashlib.sha256(way.before or b"").hexdigest()
        yield node.run(source, way.path, state_dir, driver, stdin=f"{before}\n", limit=_LIMIT)
    else:
        dockerd = _dockerd(host.get_fact(Daemons), host.get_fact(DockerUnit))
        change = FileChange(way.path, way.before, way.after, dockerd)
        if state.config.DIFF:
            _show(change)
        yield _write(change, driver, state_dir, "restoring")


def _dockerd(daemons: DaemonsState | Unknown, unit: DockerUnitState | Unknown) -> tuple[str, ...]:
    """The command line of the next start of this node's engine, to validate the file with."""
    root = None if isinstance(daemons, Unknown) else engine_of_root(daemons)
    return () if isinstance(root, Refused) else starts(root, unit).to_validate()


def _write(change: FileChange, driver: str, state_dir: str, *more: str) -> StringCommand:
    before = "absent" if change.before is None else hashlib.sha256(change.before).hexdigest()
    after = hashlib.sha256(change.after).hexdigest()
    body = base64.encodebytes(change.after).decode()
    parts = ("say", "state", "lock", "replace", "validate", "config_file", *more)
    source = node.script(*parts, "write_daemon_json")
    return node.run(
        source,
        change.path,
        state_dir,
        driver,
        *command_line(change.dockerd),
        stdin=f"{before}\n{after}\n{body}",
        limit=_LIMIT,
    )


def command_line(arguments: Sequence[str]) -> list[str]:
    """dockerd and its flags without the file: ``--validate`` is shown a file of ours."""
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if not skip and argument != "--config-file" and not argument.startswith("--config-file="):
            kept.append(argument)
        skip = argument == "--config-file"
    return kept or ["dockerd"]


def _show(change: FileChange) -> None:
    """The difference, the way that pyinfra's own files.put shows it."""
    before = (change.before or b"").decode(errors="replace").splitlines(keepends=True)
    after = change.after.decode(errors="replace").splitlines(keepends=True)
    host.log(f"Will {'create' if change.before is None else 'modify'} {change.path}", logger.info)
    for line in generate_color_diff(before, after):
        logger.info("  %s", line)
    logger.info("")
