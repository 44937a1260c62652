"""Where wheels are kept on the machine that runs pyinfra, and its pip, which fetches and builds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_LIMIT = 600
"""Seconds for pip: 34 wheels over a slow line."""
# 1980-01-01, the first date that a zip can hold: the same sources are the same wheel.
_EPOCH = "315532800"


class NoWheels(Exception):
    """Why there is no archive, in one line."""


def place() -> Path:
    """The directory for wheels in the user's cache, made where it is not there."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = Path(base) / "pyinfra-nvml" / "wheels"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise NoWheels(f"{path}: saw {reason.strerror}, want a directory for wheels") from reason
    return path


def keep(folder: Path, place: Path) -> None:
    """Puts a finished folder in its place, whole or not at all."""
    try:
        folder.rename(place)
    except OSError:
        # Another run of ours was faster, with the same content.
        if not place.exists():
            raise


def pip(*words: str) -> None:
    """Runs this machine's pip with these words; raises ``NoWheels`` with what it said."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _EPOCH, "PIP_NO_INPUT": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_LIMIT, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise NoWheels(f"pip {words[0]}: saw no end in {_LIMIT} s, want the wheels here") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        told = next((line for line in said if line.startswith("ERROR")), said[-1])
        raise NoWheels(f"pip {words[0]}: saw {told[:300]}, want every wheel of requirements.lock")
