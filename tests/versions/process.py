"""One program with all that it starts: it has a limit, and nothing of it goes on after its end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

ENDED = threading.Event()
"""Set where nothing is wanted any more: whatever runs is ended."""


class NoResult(Exception):
    """Why something could not be tried to its end, in one line."""


def run(argv: Sequence[str], place: Path, log: Path, limit: float) -> int:
    """Its exit code; what it says is added to the log."""
    # The checkout itself must not be what is imported by the installed command.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with log.open("a") as to:
        process = subprocess.Popen(
            argv,
            cwd=place,
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=to,
            stderr=to,
            start_new_session=True,
        )
        try:
            code = _code(process, limit)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code is None:
        raise NoResult(f"{Path(argv[0]).name}: saw no end in {limit:g} s, want one; see {log}")
    return code


def _code(process: subprocess.Popen[bytes], limit: float) -> int | None:
    end = time.monotonic() + limit
    while not ENDED.wait(0.1):
        if (code := process.poll()) is not None:
            return code
        if time.monotonic() > end:
            return None
    raise NoResult("ended early")
