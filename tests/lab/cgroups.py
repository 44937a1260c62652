"""A node's own cgroups on this machine: one in the unified hierarchy, and one per v1 hierarchy.

Two machines in one cgroup collide: systemd-nspawn makes `supervisor` and `payload` in its own.
"""

import contextlib
import os
import signal
import time
from pathlib import Path

from tests.lab.errors import LabError


def unified_mount() -> Path | None:
    """Where the cgroup2 file system is mounted."""
    return next(iter(_mounts("cgroup2")), None)


def legacy_mounts() -> list[Path]:
    """Where the cgroup v1 hierarchies are mounted."""
    return _mounts("cgroup")


def groups_for(machine: str) -> list[Path]:
    """Every group that is a node's own, the unified one first; nothing is made yet.

    systemd-nspawn makes one of the same name in systemd's v1 hierarchy by itself.
    """
    top = unified_mount()
    if top is None:
        raise LabError("lab: no cgroup2 mount in /proc/self/mounts, want one")
    return [each / machine for each in (top, *legacy_mounts())]


def make(groups: list[Path]) -> None:
    """Make groups; a v1 cpuset takes no process before it has cpus and memory nodes."""
    for group in groups:
        group.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):
            above = group.parent / setting
            if above.exists() and (group / setting).exists():
                (group / setting).write_text(above.read_text())


def kill(groups: list[Path], limit: float = 20) -> None:
    """Kill what is left in the groups and wait until they are empty."""
    end = time.monotonic() + limit
    while living := [pid for group in groups for pid in _pids(group)]:
        if time.monotonic() > end:
            raise LabError(f"{groups[0].name}: {living} alive after {limit:g} s, want none")
        for group in groups:
            _kill_once(group)
        time.sleep(0.05)


def remove(groups: list[Path], limit: float = 10) -> None:
    """Remove the groups and those below them, deepest first; they have no process any more."""
    end = time.monotonic() + limit
    for group in groups:
        while group.exists():
            for path, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):
                    Path(path).rmdir()
            if group.exists():
                if time.monotonic() > end:
                    raise LabError(f"{group}: still there after {limit:g} s, want it removed")
                time.sleep(0.05)


def _kill_once(group: Path) -> None:
    with contextlib.suppress(OSError):
        # Linux 5.14 and later, unified hierarchy only.
        (group / "cgroup.kill").write_text("1")
        return

    for pid in _pids(group):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _pids(group: Path) -> list[int]:
    found: list[int] = []
    for path, _, _ in os.walk(group):
        with contextlib.suppress(OSError):
            found += [int(line) for line in Path(path, "cgroup.procs").read_text().split()]
    return found


def _mounts(kind: str) -> list[Path]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [Path(fields[1]) for fields in map(str.split, lines) if fields[2] == kind]
