"""A command as a user types it in this checkout, with nothing to read from."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Ended = subprocess.CompletedProcess[str]


def typed(
    *argv: str | Path,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    seconds: int = 120,
    terminal: bool = True,
) -> Ended:
    """How it ended and what it printed; without a terminal there is none to open either."""
    return subprocess.run(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        start_new_session=not terminal,
        check=False,
    )
