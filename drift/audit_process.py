"""pyinfra's audit of an inventory in a process group of its own, with a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pyinfra_nvml
from pyinfra_nvml.drift.progress import wait_for_audit
from pyinfra_nvml.drift.results import Results

_BESIDE = Path(pyinfra_nvml.__file__).parents[1]
"""Where Python finds this program: this checkout, or the directory of installed packages."""

NOT_ALL_WRITTEN = 4
"""How it ends where its document is there and another report is not; its last line says why."""

_GRACE = 10
"""Seconds after the limit at which the run ends itself, should nobody wait for it any more."""


@dataclass(frozen=True)
class AuditRequest:
    """What to audit: the inventory, a part of it, and data that overrules the inventory's."""

    inventory: str
    limits: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


def run_pyinfra(asked: AuditRequest, results: Results, lock: int, seconds: float) -> int | None:
    """Runs it, with its document, report and log in the results; ``None``: it was out of time."""
    results.new.unlink(missing_ok=True)
    words = [f"--limit={limit}" for limit in asked.limits]
    words += [f"--data={pair}" for pair in asked.data]
    words += [f"--document={results.new}", f"--chdir={Path.cwd()}"]
    words += [f"--alarm={int(seconds) + _GRACE}", f"--parent={os.getpid()}", asked.inventory]
    with _fresh(results.log) as log, _fresh(results.report) as report:
        process = subprocess.Popen(
            [sys.executable, "-m", "pyinfra_nvml.drift.audit_in_process", *words],
            # Where python -m looks first: nothing in the operator's directory comes before.
            cwd=_BESIDE,
            stdin=subprocess.DEVNULL,
            stdout=report,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock,),
            env={**os.environ, "PYINFRA_PROGRESS": "off"},
        )
        return _waited(process, seconds, results.log)


def _fresh(path: Path) -> TextIO:
    """A file of this run's own: the one before may be of another user, or a link to anywhere."""
    path.unlink(missing_ok=True)
    return path.open("x")


def _waited(process: subprocess.Popen[bytes], seconds: float, log: Path) -> int | None:
    try:
        return wait_for_audit(process, seconds, log)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the whole group, at a time limit or where this process is told to end."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
