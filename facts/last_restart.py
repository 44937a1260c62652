"""The result of the last restart of Docker by this project."""

from __future__ import annotations

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.state_directory import STATE_DIR, look
from pyinfra_nvml.model.unknown import Unknown

# `last` names it; without that file it is the last by name, which begins with its time.
_LOOK = """
for result in "$state"/results/*; do :; done
[ ! -s "$state/last" ] || result=$state/results/$(cat "$state/last")
if [ -e "$result" ]; then cat "$result"; else echo none; fi
"""


class LastRestart(Source[tuple[str, ...] | None]):
    """The lines of the last restart's result, or ``None`` where there was none.

    + state_dir: where the operations of this project keep their state on the node

    Source: the result that operations/node/restart_docker.sh keeps. Needs root.

    .. code:: python

        ("id 20261130T091400Z.4242", "container 4f66d0ab12cd new always web -", "verdict ok", "end")
    """

    probes = (Probe("last_restart.result", look(_LOOK), lines=r"none$|[a-z]+( |$)"),)

    @override
    def command(self, state_dir: str = STATE_DIR) -> str:
        return node_script((Probe("last_restart.result", look(_LOOK, state_dir)),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> tuple[str, ...] | Unknown | None:
        answer = section(sections, "last_restart.result")
        if answer.trouble:
            return answer.trouble
        lines = tuple(answer.out.splitlines())
        return None if lines == ("none",) else lines
