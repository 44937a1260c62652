"""The configuration file of the Docker engine: changed at one entry, or left as it is."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from pyinfra import logger
from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host, state
from pyinfra.operations.util.files import generate_color_diff

from audit.daemon_document import Document, Refused, document
from audit.driver_entry import Candidate, with_driver
from audit.engine_config import obstacles
from facts.daemon_json import DEFAULT, ConfigFile, DaemonJson, DaemonJsonFiles
from facts.daemons import Daemon, Daemons, RunningDaemons
from facts.interrupted import STATE_DIR
from facts.unknown import Unknown
from operations import node

_LIMIT = 300
"""Seconds: half a minute for another run to end, a slow disk, dockerd's own validation."""


@dataclass(frozen=True)
class Change:
    """A file that is to be written: what was read of it, what it becomes, and for which engine."""

    path: str
    before: bytes | None
    after: bytes
    dockerd: tuple[str, ...]


@operation()
def cgroup_driver(
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

        daemon_json.cgroup_driver(name="Docker without systemd's cgroups", driver="cgroupfs")
    """
    planned = plan(host.get_fact(DaemonJson), host.get_fact(Daemons), driver)
    if planned is None:
        host.noop(f"daemon.json names the cgroup driver {driver}")
    elif isinstance(planned, Change):
        if state.config.DIFF:
            _show(planned)
        yield _write(planned, driver, state_dir)
    else:
        yield node.refuse(*planned)


def plan(
    files: DaemonJsonFiles | Unknown,
    daemons: RunningDaemons | Unknown,
    driver: str,
    restart: bool = False,
) -> Change | Sequence[str] | None:
    """The change that brings this node to the driver; all reasons against; or nothing to do.

    Where a restart follows at once, a file that is right is looked at for what would stop it.
    """
    if isinstance(files, Unknown) or isinstance(daemons, Unknown):
        return [f"daemon.json: {v.reason}" for v in (files, daemons) if isinstance(v, Unknown)]
    engine = _engine(daemons)
    if isinstance(engine, Refused):
        return [str(engine)]
    path = (engine and engine.option("--config-file")) or DEFAULT
    file = files.at(path)
    if file is None or isinstance(file.content, Unknown):
        return [f"{path}: {_unread(file)}"]
    if file.link and file.content is None:
        return [f"{path}: saw a link to {file.target}, which is not there, want a file behind it"]
    found = with_driver(file.content, driver, path)
    if isinstance(found, Refused):
        return [str(found)]
    if not found.changed and not restart:
        return None
    arguments = engine.arguments if engine else ()
    against = _against(found, path, arguments)
    if against or not found.changed:
        return against or None
    return Change(path, file.content, found.content, arguments)


def _engine(daemons: RunningDaemons) -> Daemon | Refused | None:
    """The one dockerd whose file this is; ``None`` where none runs, and the default is meant."""
    running = daemons.named("dockerd")
    of_root = [daemon for daemon in running if daemon.uid <= 0]
    if len(of_root) > 1:
        pids = ", ".join(str(daemon.pid) for daemon in of_root)
        return Refused("dockerd", f"{len(of_root)} of them (pids {pids})", "one on this node")
    if running and not of_root:
        owner = f"it runs as user {running[0].uid} (rootless: it reads another file)"
        return Refused("dockerd", owner, "the engine of root")
    return of_root[0] if of_root else None


def _unread(file: ConfigFile | None) -> str:
    content = file.content if file else None
    return content.reason if isinstance(content, Unknown) else "it was not read"


def _against(found: Candidate, path: str, arguments: Sequence[str]) -> list[str]:
    config = document(found.content, path)
    value = config.value if isinstance(config, Document) else {}
    return [f"{path}: {obstacle}" for obstacle in obstacles(value, arguments)]


def _write(change: Change, driver: str, state_dir: str) -> StringCommand:
    before = "absent" if change.before is None else hashlib.sha256(change.before).hexdigest()
    after = hashlib.sha256(change.after).hexdigest()
    body = base64.encodebytes(change.after).decode()
    source = node.script("say", "state", "lock", "replace", "validate", "write_daemon_json")
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


def _show(change: Change) -> None:
    """The difference, the way that pyinfra's own files.put shows it."""
    before = (change.before or b"").decode(errors="replace").splitlines(keepends=True)
    after = change.after.decode(errors="replace").splitlines(keepends=True)
    host.log(f"Will {'create' if change.before is None else 'modify'} {change.path}", logger.info)
    for line in generate_color_diff(before, after):
        logger.info("  %s", line)
    logger.info("")
