"""The driver's library in each container of this node: mounted from the node, or of its image."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# A container's process has a 64-digit id in its control group (v2, or a v1 hierarchy); its root is
# under /proc. What was mounted there once leaves an empty file in the container's own layer. The
# paths in mountinfo are the container's (proc(5)); column 5 is the mount point.
_WALK = r"""
[ "$(id -u)" = 0 ] || { echo 'want root to look into /proc' >&2; exit 3; }
ids=
for group in /proc/[0-9]*/cgroup; do
  pid=${group#/proc/} pid=${pid%/cgroup}
  id=$(grep -oE '[0-9a-f]{64}' "$group" 2>/dev/null | tail -n 1)
  case " $ids " in *" $id "*) continue ;; esac
  [ -n "$id" ] || continue
  ids="$ids $id"
  cd "/proc/$pid/root/" 2>/dev/null || continue
  for file in usr/lib/*-linux-gnu/libnvidia-ml.so.*.* usr/lib64/libnvidia-ml.so.*.* \
    usr/lib/libnvidia-ml.so.*.* usr/local/nvidia/lib64/libnvidia-ml.so.*.*; do
    [ -s "$file" ] && [ ! -L "$file" ] || continue
    how=image
    awk -v path="/$file" '$5 == path { found = 1 } END { exit !found }' "/proc/$pid/mountinfo" &&
      how=mounted
    echo "library $id $how /$file"
  done
  cd /
done 2>/dev/null
true
"""


@dataclass(frozen=True)
class ContainerLibrary(Value):
    """One libnvidia-ml in one container. ``mounted``: it is the node's, not of the image.

    .. code:: python

        ContainerLibrary(container="4f66...", version="550.90.07", mounted=True,
                         path="/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.90.07")
    """

    container: str
    version: str
    mounted: bool
    path: str


@dataclass(frozen=True)
class ContainerLibrariesState(Value):
    """All of them; a container without the library has none here."""

    libraries: tuple[ContainerLibrary, ...]


class ContainerLibraries(Source[ContainerLibrariesState]):
    """The libnvidia-ml of every container, of any runtime.

    Sources: /proc/pid/root, /proc/pid/mountinfo, /proc/pid/cgroup, proc(5). Needs root.
    """

    probes = (Probe("container_libraries.walk", _WALK, limit=20, lines=r"library "),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> ContainerLibrariesState | Unknown:
        answer = section(sections, "container_libraries.walk")
        if answer.trouble:
            return Unknown(answer.said) if answer.rc == 3 else answer.trouble
        rows = [(line, _LINE.match(line)) for line in answer.out.splitlines() if line]
        if odd := next((line for line, row in rows if not row), None):
            return Unknown(f"{answer.name}: not understood: {odd[:80]!r}")
        return ContainerLibrariesState(
            tuple(
                ContainerLibrary(row[1], row[4], row[2] == "mounted", row[3])
                for _, row in rows
                if row
            )
        )


Libraries = ContainerLibraries  # the name before 0.2


_LINE = re.compile(
    r"library ([0-9a-f]{64}) (image|mounted) (/\S+/libnvidia-ml\.so\.(\d+(?:\.\d+)+))$"
)
