"""One run's share of this machine: a directory in /run with its owner, its key, its nodes.

A run whose owner has died is a leftover, and the next run clears it. The run of `up` has no owner;
only `down` ends it.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.lab import limits, machine, mounts, network
from tests.lab.errors import LabError
from tests.lab.lock import locked
from tests.lab.process import Process, process
from tests.lab.ssh import make_key

STATE = Path("/run/pyinfra-nvml-lab")
UP = "up"
# A bridge has 240 addresses for nodes.
NUMBERS = 240


@dataclass(frozen=True)
class Run:
    """A run's directory, its owner (None: nobody, it stays), its bridge."""

    place: Path
    owner: Process | None
    bridge: network.Bridge

    @property
    def key(self) -> Path:
        """The private key that opens every node of this run."""
        return self.place / "key"

    def machines(self) -> list[Path]:
        """The directories of the nodes that this run has now."""
        return _machines(self.place)


def begin(name: str | None = None) -> Run:
    """Take a share of this machine for this process; with a name, one that outlives it."""
    with _state_locked():
        limits.lift(STATE)
        place = STATE / (name or f"run-{secrets.token_hex(2)}")
        owner = None if name else process(os.getpid())
        if not place.exists():
            place.mkdir(mode=0o700)
            (place / "owner.json").write_text(json.dumps(asdict(owner) if owner else None))
            make_key(place / "key")
        return Run(place, owner, network.make(_bridge_name(place)))


def end(place: Path) -> None:
    """End a run: nodes, bridge, directory; may be done twice, and by another process."""
    failed = [reason for each in _machines(place) if (reason := _ended(each))]
    if failed:
        raise LabError("; ".join(failed))
    network.remove(_bridge_name(place))
    mounts.lift(place)
    if not _places():
        limits.put_back(STATE)


def clear_leftovers() -> list[str]:
    """End every run whose owner has died; returns their names."""
    with _state_locked():
        dead = [place for place in _places() if _is_leftover(place)]
        for place in dead:
            end(place)
    return [place.name for place in dead]


def living() -> dict[str, int]:
    """The runs that belong to a process which still runs, with its id."""
    owners = {place.name: _owner(place) for place in _places()}
    return {name: owner.pid for name, owner in owners.items() if owner and owner.alive()}


def machine_place(run: Run, number: int) -> Path:
    """A node's directory; its name is the machine's, and fits a network link's 15 bytes."""
    return run.place / f"{_short(run.place)}-{number}"


def end_up() -> bool:
    """End the run of `up`; whether there was one."""
    with _state_locked():
        there = (STATE / UP).exists()
        if there:
            end(STATE / UP)
    return there


def forget_state() -> None:
    """Remove the state directory if no run is left."""
    with _state_locked():
        if not _places():
            shutil.rmtree(STATE)


@contextmanager
def _state_locked() -> Iterator[None]:
    STATE.mkdir(mode=0o755, exist_ok=True)
    with locked(STATE / "lock"):
        yield


def _places() -> list[Path]:
    return sorted(path for path in STATE.glob("*") if path.is_dir()) if STATE.exists() else []


def _machines(place: Path) -> list[Path]:
    return sorted(record.parent for record in place.glob(f"*/{machine.RECORD}"))


def _ended(place: Path) -> str | None:
    try:
        machine.end(machine.read(place))
    except (LabError, OSError) as reason:
        return str(reason)
    return None


def _owner(place: Path) -> Process | None:
    owner = json.loads((place / "owner.json").read_text())
    return Process(**owner) if owner else None


def _is_leftover(place: Path) -> bool:
    if place.name == UP:
        return False
    try:
        owner = _owner(place)
    except (OSError, ValueError):
        return True  # killed before it wrote who it was
    return owner is None or not owner.alive()


def _short(place: Path) -> str:
    return f"nv-{place.name.removeprefix('run-')}"


def _bridge_name(place: Path) -> str:
    return f"{_short(place)}-br"
