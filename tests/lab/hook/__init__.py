"""The stand-in for NVIDIA's legacy hook, compiled on this machine and run inside the nodes."""

import hashlib
from pathlib import Path

from tests.lab.command import tool
from tests.lab.lock import locked
from tests.lab.rootfs import cache

SOURCE = Path(__file__).with_name("legacy_hook.c")
COMPILER = ("gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror")


def compiled() -> Path:
    """The hook as a static program, compiled now if the cache has none of this source."""
    key = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    program = cache() / f"legacy-hook-{key}"
    with locked(cache() / f"{program.name}.lock"):
        if not program.exists():
            half = program.with_name(f".{program.name}")
            tool(*COMPILER, "-o", str(half), str(SOURCE), limit=120)
            half.replace(program)
    return program
