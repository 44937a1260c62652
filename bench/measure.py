"""One run of a program, measured: wall, CPU and peak memory of it and all it started."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY = 0.3


@dataclass(frozen=True)
class Run:
    """Seconds of wall and CPU, MiB of all its processes at their peak, and the exit code."""

    wall: float
    cpu: float
    memory: float
    code: int


def measured(
    argv: Sequence[str], log: Path, stdin: Path | None = None, env: Mapping[str, str] | None = None
) -> Run:
    """Runs it to its end; its output goes to the log."""
    with log.open("w") as out, (stdin or Path("/dev/null")).open() as given:
        began = time.monotonic()
        process = subprocess.Popen(
            argv,
            stdin=given,
            stdout=out,
            stderr=out,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        peak = _Peak(process.pid)
        peak.start()
        # wait4's usage is that of the process and of every descendant that was waited for.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak.over.set()
        peak.join()
    cpu = usage.ru_utime + usage.ru_stime
    return Run(wall, cpu, peak.most / 2**20, process.returncode)


class _Peak(threading.Thread):
    """Looks again and again at what the processes of a session hold: their resident pages."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.session = session
        self.most = 0
        self.over = threading.Event()

    @override
    def run(self) -> None:
        while not self.over.wait(_EVERY):
            self.most = max(self.most, sum(self._held(place) for place in _processes()))

    def _held(self, place: Path) -> int:
        try:
            # proc_pid_stat(5): after the name in brackets, the 4th field is the session, the 22nd
            # the resident pages.
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return int(fields[21]) * _PAGE if int(fields[3]) == self.session else 0


def _processes() -> list[Path]:
    return [place for place in Path("/proc").iterdir() if place.name.isdigit()]
