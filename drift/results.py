"""The results directory: what the last audit said, what was accepted, and who may write now."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pyinfra_nvml.audit import baseline
from pyinfra_nvml.audit.baseline import NOTHING_YET, Baseline
from pyinfra_nvml.audit.inventory_name import inventory_name, same_inventory
from pyinfra_nvml.audit.json_file import Unreadable, write_json
from pyinfra_nvml.audit.record import RecordedAudit, read_audit
from pyinfra_nvml.audit.run_record import RunRecord, read_run
from pyinfra_nvml.drift.accept_command import accept_command

DAY = 86400
"""The seconds between two audits where nobody said."""

_SKEW = 300.0
"""Seconds by which a clock may be put back: results from later than that would never grow old."""

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
        return self.place / baseline.NAME

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

    def begin(self, at: datetime) -> RunRecord:
        """Marks that a run has started; gives the record, all else in it as the last run left it.

        A last run that died has told nothing; this one's start takes the place of its mark.
        """
        try:
            before = self.last()
        except Unreadable:
            before = RunRecord(audited=False)
        begun = replace(before, started=at, ended=None)
        if before.started and before.ended is None:
            begun = replace(begun, exit=2, audited=False, reason=_died(before))
        write_json(self.drift, begun.to_json())
        return begun

    def last(self) -> RunRecord:
        """What the last run came to (``drift.json``)."""
        if not self.drift.exists():
            raise Unreadable(f"results {self.place}: saw no run yet, want one: {RUN_AGAIN}")
        return read_run(self.drift, RUN_AGAIN)

    def last_audit(self) -> RecordedAudit:
        """The document of the last run that gave one."""
        return read_audit(self.audit, RUN_AGAIN)

    def baseline(self, inventory: str) -> Baseline:
        """The accepted state of this inventory, or why there is none."""
        if not self.accepted.exists():
            return NOTHING_YET
        wanted = inventory_name(inventory)
        try:
            kept = read_audit(self.accepted, ACCEPT_AGAIN)
        except Unreadable as fault:
            return Baseline(why=str(fault), damaged=True)
        if same_inventory(kept.inventory, wanted):
            return Baseline(kept)
        # Of this one nothing was accepted, as before the first time: no reason to tell less.
        do = f"`{accept_command(inventory, self.place)}` does, in its place"
        saw = f"{self.accepted} is the state of {kept.inventory}"
        return Baseline(why=f"{saw}, nothing accepted yet of {wanted}: {do}")


def stale_reason(
    run: RunRecord, running: bool, interval: float | None, now: datetime
) -> str | None:
    """Why the results are not today's, or ``None``: too old, or the last run has not ended."""
    if run.results is None:
        return run.reason or "no run has ended yet"
    if run.ended is None and not running:
        return _died(run)
    if not run.audited:
        return f"the last run told nothing new: {run.reason}"
    seconds = interval or run.interval or DAY
    age = (now - run.results).total_seconds()
    if -age > _SKEW:
        return f"the last results are of {-age:.0f} s from now, want the clock of their time"
    if age > 2 * seconds:
        return f"the last results are {age:.0f} s old, want at most {2 * seconds:g} s"
    return None


def _died(run: RunRecord) -> str:
    began = f" of {run.started.isoformat(timespec='seconds')}" if run.started else ""
    return f"the run{began} has not ended: what stands here is from before"


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
