"""A process of this machine told apart from a later one with the same number, by its start time."""

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process id, and its start in clock ticks after boot (proc(5), /proc/pid/stat, field 22)."""

    pid: int
    start: int

    def alive(self) -> bool:
        """Whether this very process still runs."""
        return _start(self.pid) == self.start

    def kill(self) -> None:
        """Kill this very process, never one that has its number now."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def process(pid: int) -> Process:
    """The process that has this id now; one that has gone already is never alive."""
    return Process(pid, _start(pid) or 0)


def _start(pid: int) -> int | None:
    try:
        # The command's name, in parentheses, may hold blanks; the state follows it.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])
