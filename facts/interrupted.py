"""Whether a restart of Docker by this project began on the node and has not ended."""

from __future__ import annotations

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.state_directory import STATE_DIR, look
from pyinfra_nvml.model.unknown import Unknown

_LOOK = """if [ -e "$state/ran" ]; then echo open; else echo none; fi\n"""


class Interrupted(Source[bool]):
    """Whether containers that ran before a restart may still be down: its list of them is there.

    + state_dir: where the operations of this project keep their state on the node

    Needs root.

    .. code:: python

        False
    """

    probes = (Probe("interrupted.restart", look(_LOOK), lines=r"(open|none)$"),)

    @override
    def command(self, state_dir: str = STATE_DIR) -> str:
        return node_script((Probe("interrupted.restart", look(_LOOK, state_dir)),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> bool | Unknown:
        answer = section(sections, "interrupted.restart")
        return answer.trouble or answer.out.strip() == "open"
