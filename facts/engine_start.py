"""When a running dockerd started, and whether a file was changed since: by the node's own clocks.

.. code:: text

    pidfile 612 1796299876 1796299876.043470812
    clock 1796301200 1500.25
    dockerd 612 17621 /etc/docker/daemon.json
"""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.model.unknown import Unknown

OLDER = Unknown("not in this recording")
"""What a recording from before this was asked says."""

_TICKS = 100
"""Per second, wherever Docker runs (proc(5), USER_HZ)."""

_STEP = 10
"""Seconds between the two clocks of a start, above which the wall clock was set in between."""


@dataclass(frozen=True)
class EngineStart:
    """A running dockerd: the file that it read, and the latest second at which it did."""

    path: str
    at: float


def engine_starts(text: str) -> tuple[EngineStart, ...] | Unknown:
    """Every dockerd that runs.

    dockerd writes /run/docker.pid right after it has read its file (moby cmd/dockerd/daemon.go,
    start); without it the process's age tells, to the second.
    """
    lines = [line.partition(" ")[::2] for line in text.splitlines()]
    said = dict(lines)
    clock = [_number(word) for word in said.get("clock", "").split()]
    if len(clock) != 2 or clock[0] is None or clock[1] is None:
        return OLDER if "clock" not in said else Unknown("the node's clock was not understood")
    now, uptime = clock[0], clock[1]
    pid, _, times = said.get("pidfile", "").partition(" ")
    written = _latest(times.split())
    found = []
    for words in (rest.split(" ", 2) for key, rest in lines if key == "dockerd"):
        ticks = _number(words[1]) if len(words) == 3 else None
        if ticks is None:
            return Unknown("the start of dockerd was not understood")
        at = now - (uptime - ticks / _TICKS) + 1
        if words[0] == pid and written is not None and abs(written - at) < _STEP:
            at = written
        found.append(EngineStart(words[2], at))
    return tuple(found)


def edited(path: str, times: str, starts: tuple[EngineStart, ...] | Unknown) -> bool | Unknown:
    """Whether this file has a time after the start of a dockerd that reads it."""
    if isinstance(starts, Unknown):
        return starts
    reading = [start.at for start in starts if start.path == path]
    changed = _latest(times.split())
    if not reading:
        return Unknown("no running dockerd has read it")
    if changed is None:
        return Unknown("no file, and no time of its removal")
    return any(changed > at for at in reading)


def _latest(words: list[str]) -> float | None:
    """The latest of these times; stat(1) of busybox may not know the ones with fractions."""
    known = [number for word in words if (number := _number(word)) is not None]
    return max(known, default=None)


def _number(word: str) -> float | None:
    digits = word.replace(".", "", 1)
    return float(word) if digits.isascii() and digits.isdigit() else None
