"""The flag file that asks for a reboot of this node, and why."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

SENTINEL = "/run/reboot-required"
"""kured's default is /var/run/reboot-required, the same place; Ubuntu's login message prints it."""

_LOOK = "[ ! -e {0} ] || {{ echo set; cat {0}; }}"


@dataclass(frozen=True)
class RebootFlagState(Value):
    """A reboot flag that is set, with the lines in it (Debian and Ubuntu write two of their own).

    .. code:: python

        RebootFlagState(lines=("*** System restart required ***",))
    """

    lines: tuple[str, ...]


class RebootFlag(Source[RebootFlagState | None]):
    """The reboot flag of this node; ``None`` where none is set.

    + path: the flag file

    Source: /run/reboot-required, written by packages of Debian and Ubuntu and read by kured
    (kured, ``--reboot-sentinel``). Readable by everyone.
    """

    probes = (Probe("reboot_flag.text", _LOOK.format(SENTINEL)),)

    @override
    def command(self, path: str = SENTINEL) -> str:
        return node_script((Probe("reboot_flag.text", _LOOK.format(shlex.quote(path))),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> RebootFlagState | Unknown | None:
        answer = section(sections, "reboot_flag.text")
        if answer.trouble:
            return answer.trouble
        if not answer.out.strip():
            return None
        first, *lines = answer.out.splitlines()
        return (
            RebootFlagState(tuple(lines))
            if first == "set"
            else Unknown("reboot flag: not understood")
        )
