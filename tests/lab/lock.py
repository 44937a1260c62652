"""A lock between processes of this machine, in the form of a file."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's lock; it goes with the process that holds it."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_still(path, file.fileno()):
                yield
                return


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file was not removed while this process waited for its lock."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
