"""What has to change in the daemon.json of this node's engine, or every reason against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyinfra_nvml.combiners.daemon_document import Document, Refused, document
from pyinfra_nvml.combiners.driver_entry import with_driver
from pyinfra_nvml.combiners.engine import Engine, Start, engine_of_root, starts
from pyinfra_nvml.facts.daemon_json import LIMIT, ConfigFile, DaemonJsonState
from pyinfra_nvml.facts.daemons import DaemonsState
from pyinfra_nvml.facts.docker_unit import DockerUnitState
from pyinfra_nvml.model.unknown import Unknown


@dataclass(frozen=True)
class FileChange:
    """A file and what it becomes: its bytes before, and after (the same where it is right).

    ``dockerd`` is the command line of its engine's next start, ``against`` what that start would
    fail on, and why the file cannot be replaced where it has to be.
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


def plan_change(
    files: DaemonJsonState | Unknown,
    daemons: DaemonsState | Unknown,
    unit: DockerUnitState | Unknown,
    driver: str,
    restart: bool = False,
    version: str = "",
) -> FileChange | Sequence[str] | None:
    """The change that brings this node to the driver; all reasons against; or nothing to do.

    Where a restart follows at once, a file that is right is looked at for what would stop it.
    """
    if isinstance(files, Unknown) or isinstance(daemons, Unknown):
        return [f"daemon.json: {v.reason}" for v in (files, daemons) if isinstance(v, Unknown)]
    root = engine_of_root(daemons)
    if isinstance(root, Refused):
        return [str(root)]
    engine = replace(starts(root, unit), version=version)
    found = change(files, engine, driver)
    if isinstance(found, Refused):
        return [str(found)]
    if found.against and (found.needed or restart):
        return [f"{found.path}: {against}" for against in found.against]
    return found if found.needed else None


def change(files: DaemonJsonState | Unknown, engine: Engine, driver: str) -> FileChange | Refused:
    """The file that this engine reads next, with this driver, or why nothing can be made of it."""
    path = engine.path
    file = file_at(files, path)
    if isinstance(file, Refused):
        return file
    if file.link and file.content is None:
        saw = f"a link to {file.target}, which is not there"
        return Refused(path, saw, "a file behind it")
    before = file.content if isinstance(file.content, bytes) else None
    found = with_driver(before, driver, path)
    if isinstance(found, Refused):
        return found
    if found.changed and len(found.content) > LIMIT:
        saw = f"{len(found.content)} bytes with the driver's entry"
        return Refused(path, saw, f"at most {LIMIT}, so that it can be read again")
    config = document(found.content, path)
    value = config.value if isinstance(config, Document) else {}
    kept = () if not found.changed or not file.kept else (_kept(file),)
    against = (*kept, *engine.obstacles(value), *_unloaded(engine, value))
    return FileChange(path, before, found.content, engine.to_validate(), against)


def file_at(files: DaemonJsonState | Unknown, path: str) -> ConfigFile | Refused:
    """The file at this path, if it was read."""
    want = "it readable, as root and with the engine up"
    if isinstance(files, Unknown):
        return Refused(path, files.reason, want)
    file = files.at(path)
    if file is None:
        return Refused(path, "it was not read", want)
    return Refused(path, file.content.reason, want) if isinstance(file.content, Unknown) else file


def _unloaded(engine: Engine, value: dict[str, object]) -> Iterator[Refused]:
    """What lies on the disk and only comes with a daemon-reload: flags of a drop-in."""
    for name, unknown in engine.unknowns():
        yield Refused(name, unknown.reason, "to know its flags")
    for one in engine.later_obstacles(value):
        saw = f"{one.saw}, in a unit file that systemd has not loaded yet"
        yield replace(one, saw=saw)
    if isinstance(engine.after_reload, Start) and engine.after_reload.path != engine.path:
        saw = f"--config-file {engine.after_reload.path} in a unit file that is not loaded yet"
        yield Refused("docker.service", saw, "the file that the engine goes on with")


def _kept(file: ConfigFile) -> Refused:
    return Refused("daemon.json", file.kept, "a file that can be replaced")
