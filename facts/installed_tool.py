"""Which version of this project is installed on the node."""

from __future__ import annotations

import shlex

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown

HOME = "/opt/pyinfra-nvml"

# The link is set after the version has run once; a version without its mark is half made.
_LOOK = """
version=$(readlink {0}/current) || {{ echo none; exit 0; }}
[ -e {0}/"$version"/.ready ] && [ -x {0}/"$version"/bin/python ] || {{ echo none; exit 0; }}
echo "${{version##*/}}"
"""

_VERSION = r"(none|[0-9a-f]{16})$"


class InstalledTool(Source[str | None]):
    """The version in use, as its digest; ``None`` where none is, or one that was half made.

    + home: where versions and the link to the one in use lie

    Source: the link ``current`` that operations/node/install_tool.sh sets.

    .. code:: python

        "4f1c9e0a77d2b615"
    """

    probes = (Probe("installed_tool.current", _LOOK.format(HOME), lines=_VERSION),)

    @override
    def command(self, home: str = HOME) -> str:
        look = _LOOK.format(shlex.quote(home))
        return node_script((Probe("installed_tool.current", look, lines=_VERSION),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> str | Unknown | None:
        answer = section(sections, "installed_tool.current")
        if answer.trouble:
            return answer.trouble
        version = answer.out.strip()
        return None if version in ("none", "") else version
