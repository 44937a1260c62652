"""Which wheels run on a node: its Python, its machine and its C library, from the lock file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.markers import InvalidMarker, Marker

from pyinfra_nvml.facts.interpreter import InterpreterState

OLDEST = (3, 10)
"""The oldest Python of this project (pyproject.toml, requires-python)."""

_GLIBC = re.compile(r"glibc 2\.(\d{1,3})")
# glibc's first for these wheels is 2.5 on x86_64, 2.17 elsewhere (PEP 600, PEP 599).
_FIRST = {"x86_64": 5}
_MUSL = (2, 1)
"""musllinux_1_2 and 1_1 (PEP 656): musl 1.2 is that of Alpine 3.13 (2021) and later."""


@dataclass(frozen=True)
class Target:
    """What decides between wheels: ``python`` is ``3.11``, ``platforms`` as pip's --platform."""

    python: str
    full: str
    machine: str
    platforms: tuple[str, ...]

    @property
    def key(self) -> str:
        """A name for files of this target: ``cp311-manylinux_2_36_x86_64``."""
        return f"cp{self.python.replace('.', '')}-{self.platforms[0]}"


def wheel_target(python: InterpreterState) -> Target:
    """The target that this Python is; ``unsupported_python`` says where there are no wheels."""
    major, minor, patch = python.version
    glibc = _GLIBC.match(python.libc)
    machine = python.machine
    if glibc:
        first = _FIRST.get(machine, 17)
        platforms = [f"manylinux_2_{n}_{machine}" for n in range(int(glibc[1]), first - 1, -1)]
        # Names from before PEP 600, still found on wheels.
        platforms += [f"manylinux{year}_{machine}" for year in (2014, 2010, 1)]
    else:
        platforms = [f"musllinux_1_{n}_{machine}" for n in _MUSL]
    full = f"{major}.{minor}.{patch}"
    return Target(f"{major}.{minor}", full, machine, (*platforms, f"linux_{machine}"))


def unsupported_python(python: InterpreterState) -> tuple[str, str, str] | None:
    """Why this Python cannot carry us: saw, want, what to do; None where it can."""
    version = ".".join(map(str, python.version))
    if python.version < OLDEST:
        do = "name a newer one with the setting drift_python, or audit this node from a controller"
        return f"Python {version}", "3.10 or newer", do
    if python.implementation != "CPython" or python.bits != 64:
        saw = f"{python.implementation}, {python.bits} bits"
        return saw, "CPython of 64 bits, which the wheels are for", "name one with drift_python"
    if python.libc != "musl" and not _GLIBC.match(python.libc):
        return f"libc {python.libc}", "glibc 2 or musl", "audit this node from a controller"
    if not python.venv:
        do = "apt install python3-venv (Debian, Ubuntu), from the node's own mirror or image"
        return f"Python {version} without venv or ensurepip", "both", do
    return None


def locked_requirements(lock: str, wanted: Target) -> str:
    """The lines of a lock file that hold on this target, without markers, with their hashes.

    pip judges markers by the Python that it runs on, with --python-version too.
    """
    return "".join(f"{entry}\n" for entry in _entries(lock, _environment(wanted)))


def _environment(wanted: Target) -> dict[str, str]:
    return {
        "implementation_name": "cpython",
        "implementation_version": wanted.full,
        "os_name": "posix",
        "platform_machine": wanted.machine,
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": wanted.full,
        "python_version": wanted.python,
        "sys_platform": "linux",
    }


def _entries(lock: str, environment: dict[str, str]) -> Iterator[str]:
    for line in lock.replace("\\\n", " ").splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        words, *hashes = re.split(r"\s+(?=--hash=)", text)
        requirement, _, marker = words.partition(";")
        try:
            holds = not marker.strip() or Marker(marker.strip()).evaluate(environment)
        except InvalidMarker:
            # pip judges it then, and says what it does not understand.
            yield text
            continue
        if holds:
            yield " ".join([requirement.strip(), *hashes])
