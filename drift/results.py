"""The results directory: what the last audit said, what was accepted, and who may write now."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyinfra_nvml.audit import accepted, document_versions, json_file
from pyinfra_nvml.audit.accepted import NOTHING_YET, Earlier
from pyinfra_nvml.audit.inventory_name import inventory_name, same
from pyinfra_nvml.drift.accept_command import accept_command

DAY = 86400
"""The seconds between two audits where nobody said."""

_SKEW = timedelta(seconds=300)
"""How far ahead a clock may be put back: results from later than that would never grow old."""

_PATIENCE = 3.0
"""Seconds to wait for the lock: a reader holds it for a moment to see whether a run goes on, and
pyinfra's process for as long as it takes to notice that the one who waited for it has died."""


RUN_AGAIN, ACCEPT_AGAIN = "run once without --last", "run once with --accept"
"""What takes the place of results, and of an accepted state, that cannot be read."""


class Busy(Exception):
    """Another run writes into this directory now."""


class Stopped(BaseException):
    """This process was told to end by a signal."""


@dataclass(frozen=True)
class Results:
    """The files of one results directory.

    ``drift.json`` has the ``started`` of a run from its beginning, and ``ended`` only at its end: a
    run that died leaves ``ended`` null, and all else in it is from the run before.
    """

    place: Path

    @property
    def audit(self) -> Path:
        """The document of the last run that gave one."""
        return self.place / "audit.json"

    @property
    def accepted(self) -> Path:
        """The document of the state that was accepted."""
        return self.place / accepted.NAME

    @property
    def drift(self) -> Path:
        """What the last run came to, and when (docs/drift.schema.json)."""
        return self.place / "drift.json"

    @property
    def new(self) -> Path:
        """Where pyinfra's run leaves its document, before it is the last audit."""
        return self.place / "new.json"

    @property
    def log(self) -> Path:
        """What pyinfra said on standard error."""
        return self.place / "run.log"

    @property
    def report(self) -> Path:
        """What pyinfra's run printed: the report for a terminal."""
        return self.place / "report.txt"

    @property
    def _lock(self) -> Path:
        return self.place / "lock"

    @contextmanager
    def held(self) -> Iterator[int]:
        """The lock, for one run; a descriptor that a child inherits keeps it while that runs."""
        self.place.mkdir(parents=True, exist_ok=True)
        lock = self._opened()
        try:
            _take(lock)
            yield lock
        finally:
            os.close(lock)

    def _opened(self) -> int:
        flags = os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(self._lock, flags | os.O_RDWR | os.O_CREAT, 0o644)
        except PermissionError:
            # Made by root, in a run by hand: it can be locked all the same (flock(2)).
            return os.open(self._lock, flags | os.O_RDONLY)

    def running(self) -> bool:
        """Whether a run goes on now."""
        try:
            lock = os.open(self._lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

    def begin(self, at: datetime) -> dict[str, Any]:
        """Marks that a run has started; gives the record, all else in it as the last run left it.

        A last run that died has told nothing; this one's start takes the place of its mark.
        """
        try:
            before = self.last()
        except json_file.Unreadable:
            before = _NOTHING
        begun = {**_NOTHING, **before, "started": stamp(at), "ended": None}
        if before.get("started") and before.get("ended") is None:
            begun |= {"exit": 2, "audited": False, "reason": _died(before)}
        json_file.write(self.drift, begun)
        return begun

    def last(self) -> dict[str, Any]:
        """What the last run came to (``drift.json``)."""
        if not self.drift.exists():
            raise json_file.Unreadable(
                f"results {self.place}: saw no run yet, want one: {RUN_AGAIN}"
            )
        with json_file.understood(str(self.drift), RUN_AGAIN):
            return json_file.read(self.drift, document_versions.DRIFT)

    def last_audit(self) -> dict[str, Any]:
        """The document of the last run that gave one."""
        with json_file.understood(str(self.audit), RUN_AGAIN):
            return json_file.read(self.audit, document_versions.AUDIT)

    def earlier(self, inventory: str) -> Earlier:
        """The accepted state of this inventory, or why there is none."""
        if not self.accepted.exists():
            return NOTHING_YET
        wanted = inventory_name(inventory)
        try:
            with json_file.understood(str(self.accepted), ACCEPT_AGAIN):
                kept = json_file.read(self.accepted, document_versions.AUDIT)
        except json_file.Unreadable as fault:
            return Earlier(why=str(fault), damaged=True)
        if same(kept.get("inventory"), wanted):
            return Earlier(kept)
        # Of this one nothing was accepted, as before the first time: no reason to tell less.
        do = f"`{accept_command(inventory, self.place)}` does, in its place"
        saw = f"{self.accepted} is the state of {kept['inventory']}"
        return Earlier(why=f"{saw}, nothing accepted yet of {wanted}: {do}")


_NOTHING: dict[str, Any] = {
    "version": document_versions.DRIFT,
    "seconds": 0.0,
    "interval": None,
    "exit": 2,
    "reason": "no run has ended yet",
    "audited": False,
    "inventory": None,
    "results": None,
    "accepted": None,
    "nodes": {},
    "changes": [],
    "waived": [],
}


def stamp(at: datetime) -> str:
    """A time as the documents write it: UTC, ISO 8601, seconds."""
    return at.isoformat(timespec="seconds")


def old(drift: dict[str, Any], running: bool, interval: float | None, now: datetime) -> str | None:
    """Why the results are not today's, or ``None``: too old, or the last run has not ended."""
    if drift.get("results") is None:
        return str(drift.get("reason") or "no run has ended yet")
    if drift.get("ended") is None and not running:
        return _died(drift)
    if not drift.get("audited", True):
        return f"the last run told nothing new: {drift['reason']}"
    seconds = interval or drift.get("interval") or DAY
    age = now - datetime.fromisoformat(drift["results"])
    if -age > _SKEW:
        return f"the last results are of {_span(-age)} from now, want the clock of their time"
    if age > timedelta(seconds=2 * seconds):
        return f"the last results are {_span(age)} old, want at most {2 * seconds:g} s"
    return None


def _died(drift: dict[str, Any]) -> str:
    return f"the run of {drift['started']} has not ended: what stands here is from before"


def _span(age: timedelta) -> str:
    return f"{age.total_seconds():.0f} s"


def _take(lock: int) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise Busy from None
            time.sleep(0.05)
