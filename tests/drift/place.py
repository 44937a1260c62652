"""An operator's directory, and the console command run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

FLEET = f"""\
import sys
import time
from pathlib import Path
sys.path.append({str(ROOT)!r})
from pyinfra_nvml.inventories.recorded import hosts as _every
hosts = [host for host in _every if host[0] in ("@fake/gpu_good", "@fake/trixie_exposed")]
while Path(__file__).with_name("wait").exists():
    Path(__file__).with_name("reached").touch()
    time.sleep(0.02)
"""
"""Two recorded nodes, and a run that goes on as long as a file is there."""


@dataclass(frozen=True)
class Place:
    """An operator's directory with an inventory, and the results beside it."""

    path: Path

    @property
    def results(self) -> Path:
        return self.path / "results"

    @property
    def waits(self) -> Path:
        return self.path / "wait"

    def words(self, *more: str, inventory: str = "fleet.py") -> list[str]:
        command = [
            sys.executable,
            "-m",
            "pyinfra_nvml.drift",
            inventory,
            "--results",
            str(self.results),
        ]
        return [*command, *more]

    def run(self, *more: str, inventory: str = "fleet.py", most: int = 0) -> tuple[int, str]:
        """Runs it; ``most``: blocks of 512 bytes that a file of it may have (POSIX, ulimit)."""
        words = self.words(*more, inventory=inventory)
        if most:
            words = ["sh", "-c", f'ulimit -f {most}; exec "$@"', "sh", *words]
        done = subprocess.run(
            words,
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done.returncode, done.stdout

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        """A run in its middle: it has marked its start and loads its inventory."""
        self.waits.touch()
        reached = self.path / "reached"
        reached.unlink(missing_ok=True)
        process = subprocess.Popen(
            self.words(),
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            until(reached.exists)
            assert self.drift()["ended"] is None
            yield process
        finally:
            self.waits.unlink(missing_ok=True)
            process.kill()
            process.communicate(timeout=30)

    def drift(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.results / "drift.json").read_text())
        return read


def until(holds: Callable[[], bool]) -> None:
    # Counted, not by the clock: that goes on while a whole machine, or this process, is halted.
    for _ in range(1500):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("saw no such thing in 30 s")
