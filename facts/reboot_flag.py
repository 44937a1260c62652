"""The flag file that asks for a reboot of this node, and why."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from pyinfra.api.facts import FactBase
from typing_extensions import override

from facts.node_script import script
from facts.probe import Probe, read, section
from facts.unknown import Unknown, Value


@dataclass(frozen=True)
class Flag(Value):
    """A reboot flag that is set, with the lines in it (Debian and Ubuntu write two of their own).

    .. code:: python

        Flag(lines=("*** System restart required ***",))
    """

    lines: tuple[str, ...]


class RebootFlag(FactBase[Flag | Unknown | None]):
    """The reboot flag of this node; ``None`` where none is set.

    Source: /run/reboot-required, written by packages of Debian and Ubuntu and read by kured
    (kured, ``--reboot-sentinel``). Readable by everyone.
    """

    @override
    def command(self, path: str = "/run/reboot-required") -> str:
        quoted = shlex.quote(path)
        return script(
            [Probe("reboot_flag.text", f"[ ! -e {quoted} ] || {{ echo set; cat {quoted}; }}")]
        )

    @override
    def process(self, output: list[str]) -> Flag | Unknown | None:
        answer = section(read(output), "reboot_flag.text")
        if answer.trouble:
            return answer.trouble
        if not answer.out.strip():
            return None
        first, *lines = answer.out.splitlines()
        return Flag(tuple(lines)) if first == "set" else Unknown("reboot flag: not understood")

    @override
    @staticmethod
    def default() -> Unknown:
        return Unknown("the node did not answer")
