"""What has to change in the daemon.json of this node's engine, or every reason against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.daemon_document import Document, Refused, document
from audit.driver_entry import Candidate, with_driver
from audit.engine_config import obstacles
from facts.daemon_json import DEFAULT, ConfigFile, DaemonJsonFiles
from facts.daemons import Daemon, RunningDaemons
from facts.unknown import Unknown


@dataclass(frozen=True)
class Change:
    """A file that is to be written: what was read of it, what it becomes, and for which engine."""

    path: str
    before: bytes | None
    after: bytes
    dockerd: tuple[str, ...]


def plan(
    files: DaemonJsonFiles | Unknown,
    daemons: RunningDaemons | Unknown,
    driver: str,
    restart: bool = False,
    version: str = "",
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
    against = _against(found, path, arguments, version)
    if against or not found.changed:
        return against or None
    return Change(path, file.content, found.content, arguments)


def _engine(daemons: RunningDaemons) -> Daemon | Refused | None:
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


def _unread(file: ConfigFile | None) -> str:
    content = file.content if file else None
    return content.reason if isinstance(content, Unknown) else "it was not read"


def _against(found: Candidate, path: str, arguments: Sequence[str], version: str) -> list[str]:
    config = document(found.content, path)
    value = config.value if isinstance(config, Document) else {}
    return [f"{path}: {obstacle}" for obstacle in obstacles(value, arguments, version)]
