"""Whether /dev/char of this node names NVIDIA's devices, which old runc needed with systemd."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# 195 is NVIDIA's major (Linux, Documentation/admin-guide/devices.txt).
_LIST = """
[ -d /dev/char ] || { echo absent; exit 0; }
for link in /dev/char/195:*; do [ -e "$link" ] && echo "${link##*/}"; done
echo asked
"""


@dataclass(frozen=True)
class DevCharLinksState(Value):
    """The links under /dev/char with NVIDIA's major that lead somewhere.

    .. code:: python

        DevCharLinksState(("195:0", "195:255"))
    """

    links: tuple[str, ...]


class DevCharLinks(Source[DevCharLinksState | None]):
    """The links of /dev/char for NVIDIA's devices, or ``None`` where there is no /dev/char.

    udev makes such links for devices that the kernel's driver model knows; NVIDIA's nodes are made
    by hand, so nothing links them unless ``nvidia-ctk system create-dev-char-symlinks`` did.
    Source: /dev/char. Needs no root.
    """

    probes = (Probe("char_links.list", _LIST),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> DevCharLinksState | Unknown | None:
        answer = section(sections, "char_links.list")
        if answer.trouble:
            return answer.trouble
        if answer.out.strip() == "absent":
            return None
        lines = answer.out.split()
        links = tuple(line for line in lines if re.fullmatch(r"195:\d+", line))
        if lines[-1:] != ["asked"] or len(links) != len(lines) - 1:
            return Unknown("/dev/char: its listing was not understood")
        return DevCharLinksState(links)
