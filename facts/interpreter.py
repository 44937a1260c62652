"""The Python of this node: whether a virtual environment of ours can stand on it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# For any Python 3: it has to say of itself that it is too old. confstr(3) knows glibc alone.
_ASK = """
import os, platform, sys
print("version %d.%d.%d" % sys.version_info[:3])
print("implementation " + platform.python_implementation())
print("machine " + platform.machine())
print("bits %d" % (64 if sys.maxsize > 2**32 else 32))
try:
    print("libc " + (os.confstr("CS_GNU_LIBC_VERSION") or "musl"))
except ValueError:
    print("libc musl")
try:
    import ensurepip, venv
    print("venv yes")
except ImportError:
    print("venv no")
print("path " + os.path.realpath(sys.executable))
"""


@dataclass(frozen=True)
class InterpreterState(Value):
    """A Python 3 of the node; ``libc`` is ``glibc 2.36`` or ``musl``.

    ``venv`` is whether it can make a virtual environment with pip (on Debian and Ubuntu the
    package python3-venv brings that).

    .. code:: python

        InterpreterState(path="/usr/bin/python3.11", version=(3, 11, 2), implementation="CPython",
                         machine="x86_64", bits=64, libc="glibc 2.36", venv=True)
    """

    path: str
    version: tuple[int, int, int]
    implementation: str
    machine: str
    bits: int
    libc: str
    venv: bool


class Interpreter(Source[InterpreterState | None]):
    """The Python of this name, or ``None`` where the node has none.

    + python: a name on the PATH, or a path

    Source: what it says of itself (sys, platform, os.confstr; venv and ensurepip can be imported).
    """

    probes = (Probe("interpreter.self", f"python3 -c {shlex.quote(_ASK)}"),)

    @override
    def command(self, python: str = "python3") -> str:
        ask = f"{shlex.quote(python)} -c {shlex.quote(_ASK)}"
        return node_script((Probe("interpreter.self", ask),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> InterpreterState | Unknown | None:
        answer = section(sections, "interpreter.self")
        if answer.rc == 127:
            return None
        if answer.trouble:
            return answer.trouble
        pairs = [line.partition(" ") for line in answer.out.splitlines()]
        said = {key: value for key, _, value in pairs}
        version = re.fullmatch(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})", said.get("version", ""))
        wanted = ("implementation", "machine", "bits", "libc", "venv", "path")
        missing = [key for key in wanted if not said.get(key)]
        if version is None or missing:
            return Unknown(f"{answer.name}: it does not say {', '.join(missing or ['version'])}")
        return InterpreterState(
            said["path"],
            (int(version[1]), int(version[2]), int(version[3])),
            said["implementation"],
            said["machine"],
            64 if said["bits"] == "64" else 32,
            said["libc"],
            said["venv"] == "yes",
        )
