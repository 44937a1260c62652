"""A file put in place at once: a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import glob
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_LONG_AGO = 3600
"""Seconds: no write takes that long."""


def write_atomically(path: Path, text: str) -> None:
    """Writes beside the file and renames: both are in one directory, so on one file system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes the file 0600; a report is read by whoever may read its directory.
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _clear(path: Path) -> None:
    """Removes what a killed process left of an earlier write: a full disk needs the room."""
    # mkstemp's names: eight characters behind the prefix (CPython, Lib/tempfile.py).
    for left in path.parent.glob(f".{glob.escape(path.name)}.????????"):
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > _LONG_AGO:
                left.unlink()
