"""What this node can hold packages with, and what this project holds on it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.state_directory import STATE_DIR, look
from pyinfra_nvml.model.unknown import Unknown, Value

BLACKLIST = "/etc/apt/apt.conf.d/52pyinfra-nvml-driver"
"""Our piece of unattended-upgrades' Package-Blacklist; apt reads *.conf.d by name (apt.conf(5))."""

# versionlock is a plugin of dnf 4 and of yum, and a command of dnf 5 (dnf5-versionlock(8)).
_LOOK = f"""
for tool in apt-mark unattended-upgrade dnf dnf5 yum zypper pacman; do
  command -v $tool >/dev/null && echo "tool $tool"
done
for plugin in /usr/lib/python3*/site-packages/dnf-plugins/versionlock.py \\
  /usr/lib/python3/dist-packages/dnf-plugins/versionlock.py /usr/lib/yum-plugins/versionlock.py; do
  [ -e "$plugin" ] && echo "plugin $plugin"
done
[ -e {BLACKLIST} ] && grep '' {BLACKLIST} | sed 's/^/line /'
[ -e "$state/holds" ] && sed 's/^/held /' "$state/holds"
true
"""
_LINES = r"(tool|plugin|line|held) |line$"


@dataclass(frozen=True)
class HoldToolsState(Value):
    """The programs that hold packages here, and what this project has done with them.

    ``held`` are pairs of a means (``apt-mark``, ``dnf``, ``yum``, ``zypper``) and a package's name;
    ``blacklist`` are the patterns of our own apt.conf piece, ``None`` where there is none.

    .. code:: python

        HoldToolsState(tools=("apt-mark",), plugins=(),
                       held=(("apt-mark", "libnvidia-compute-550"),), blacklist=None)
    """

    tools: tuple[str, ...]
    plugins: tuple[str, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    blacklist: tuple[str, ...] | None = None

    @property
    def locks(self) -> str | None:
        """The program that locks versions of rpm packages here; ``None`` where none can."""
        if "zypper" in self.tools:
            return "zypper"
        if "dnf5" in self.tools:
            return "dnf5"
        kinds = {"dnf": "dnf-plugins", "yum": "yum-plugins"}
        return next(
            (
                tool
                for tool, place in kinds.items()
                if tool in self.tools and any(place in plugin for plugin in self.plugins)
            ),
            None,
        )


class HoldTools(Source[HoldToolsState]):
    """What holds packages on this node.

    + state_dir: where the operations of this project keep their state on the node

    Sources: the programs themselves, dnf's and yum's plugin directories, our own record and our
    own piece of apt's configuration. The record needs root.
    """

    probes = (Probe("hold_means.look", look(_LOOK), lines=_LINES),)

    @override
    def command(self, state_dir: str = STATE_DIR) -> str:
        return node_script((Probe("hold_means.look", look(_LOOK, state_dir), lines=_LINES),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> HoldToolsState | Unknown:
        answer = section(sections, "hold_means.look")
        if answer.trouble:
            return answer.trouble
        pairs = [line.partition(" ") for line in answer.out.splitlines()]
        said = {
            key: tuple(rest for word, _, rest in pairs if word == key)
            for key in ("tool", "plugin", "line", "held")
        }
        held = tuple(line.split(" ") for line in said["held"])
        if any(len(words) != 2 for words in held):
            return Unknown(f"{answer.name}: a line of our record was not understood")
        return HoldToolsState(
            tools=said["tool"],
            plugins=said["plugin"],
            held=tuple((by, name) for by, name in held),
            blacklist=_patterns(said["line"]) if said["line"] else None,
        )


def _patterns(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(found[1] for line in lines if (found := re.match(r'\s*"(.*)";$', line)))
