"""Whether a restart of Docker by this project began on the node and has not ended."""

from __future__ import annotations

import shlex

from typing_extensions import override

from facts.node_script import script
from facts.probe import Probe, Sections, section
from facts.source import Source
from facts.unknown import Unknown

STATE_DIR = "/var/lib/pyinfra-nvml"

# test(1) cannot tell "not there" from "not allowed to look": the directory is root's alone.
_LOOK = """
if [ -d {0} ] && ! [ -x {0} ]; then echo 'not allowed to look' >&2; exit 1; fi
if [ -e {0}/ran ]; then echo open; else echo none; fi
"""


class Interrupted(Source[bool]):
    """Whether containers of before a restart may still be down: its list of them stands.

    + state_dir: where the operations of this project keep their state on the node

    Needs root.

    .. code:: python

        False
    """

    probes = (Probe("interrupted.restart", _LOOK.format(STATE_DIR), lines=r"(open|none)$"),)

    @override
    def command(self, state_dir: str = STATE_DIR) -> str:
        return script((Probe("interrupted.restart", _LOOK.format(shlex.quote(state_dir))),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> bool | Unknown:
        answer = section(sections, "interrupted.restart")
        return answer.trouble or answer.out.strip() == "open"
