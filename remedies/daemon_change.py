"""What has to change in the daemon.json of this node's engine, or every reason against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyinfra_nvml.combiners.daemon_document import Document, Refused, document
from pyinfra_nvml.combiners.driver_entry import with_driver
from pyinfra_nvml.combiners.engine_config import obstacles
from pyinfra_nvml.facts.daemon_json import DEFAULT, ConfigFile, DaemonJsonState
from pyinfra_nvml.facts.daemons import Daemon, DaemonsState
from pyinfra_nvml.model.unknown import Unknown


@dataclass(frozen=True)
class Change:
    """A file and what it becomes: its bytes before, and after (the same where it is right).

    ``dockerd`` is the command line of its engine, ``against`` what that engine would not start
    with, and why the file cannot be replaced where it has to be.
    """

    path: str
    before: bytes | None
    after: bytes
    dockerd: tuple[str, ...] = ()
    against: tuple[Refused, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether the file is not yet what it is to be."""
        return self.after != (self.before or b"")


def plan(
    files: DaemonJsonState | Unknown,
    daemons: DaemonsState | Unknown,
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
    found = change(files, path, driver, engine.arguments if engine else (), version)
    if isinstance(found, Refused):
        return [str(found)]
    if found.against and (found.needed or restart):
        return [f"{path}: {against}" for against in found.against]
    return found if found.needed else None


def change(
    files: DaemonJsonState | Unknown,
    path: str,
    driver: str,
    dockerd: tuple[str, ...] = (),
    version: str = "",
    swarm: bool = False,
) -> Change | Refused:
    """The file at this path with this driver, or why nothing can be made of it."""
    file = read(files, path)
    if isinstance(file, Refused):
        return file
    if file.link and file.content is None:
        saw = f"a link to {file.target}, which is not there"
        return Refused(path, saw, "a file behind it")
    before = file.content if isinstance(file.content, bytes) else None
    found = with_driver(before, driver, path)
    if isinstance(found, Refused):
        return found
    config = document(found.content, path)
    value = config.value if isinstance(config, Document) else {}
    against = obstacles(value, dockerd, version, swarm)
    kept = () if not found.changed or not file.kept else (_kept(file),)
    return Change(path, before, found.content, dockerd, (*kept, *against))


def read(files: DaemonJsonState | Unknown, path: str) -> ConfigFile | Refused:
    """The file at this path, if it was read."""
    want = "it readable, as root and with the engine up"
    if isinstance(files, Unknown):
        return Refused(path, files.reason, want)
    file = files.at(path)
    if file is None:
        return Refused(path, "it was not read", want)
    return Refused(path, file.content.reason, want) if isinstance(file.content, Unknown) else file


def _kept(file: ConfigFile) -> Refused:
    return Refused("daemon.json", file.kept, "a file that can be replaced")


def _engine(daemons: DaemonsState) -> Daemon | Refused | None:
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
