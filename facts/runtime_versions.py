"""The versions of the runtimes on this node: runc, crun, containerd, cri-o, podman."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# K3s and RKE2 keep their own under /var/lib/rancher. Of podman only the version matters, and that
# only where there are CDI specs for it to read.
_ASK = """
PATH=$PATH:/var/lib/rancher/k3s/data/current/bin:/var/lib/rancher/rke2/bin
for name in runc crun containerd crio podman; do
  command -v $name >/dev/null || continue
  [ $name != podman ] || [ -d /etc/cdi ] || [ -d /var/run/cdi ] || continue
  path=$(command -v $name)
  echo "program $path"
  $path --version
done
true
"""


@dataclass(frozen=True)
class RuntimeVersionsState(Value):
    """The version that each program on the PATH gives; ``None`` where it is not there.

    ``podman`` is ``None`` too where no directory of CDI specs is.

    .. code:: python

        RuntimeVersionsState(runc="1.1.5+ds1", crun=None, containerd="1.6.20~ds1", crio=None)
    """

    runc: str | Unknown | None
    crun: str | Unknown | None
    containerd: str | Unknown | None
    crio: str | Unknown | None
    podman: str | Unknown | None = None


class RuntimeVersions(Source[RuntimeVersionsState]):
    """The runtimes' versions.

    Sources: ``runc --version`` ("runc version 1.1.5+ds1"), ``crun --version``, ``containerd
    --version`` ("containerd github.com/containerd/containerd v1.7.24 57f17b0a..."), ``crio
    --version``, ``podman --version`` ("podman version 4.9.3"). Needs no root.
    """

    probes = (Probe("runtime_versions.ask", _ASK),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> RuntimeVersionsState | Unknown:
        answer = section(sections, "runtime_versions.ask")
        if (said := answer.out.strip()) and not said.startswith("program "):
            return answer.trouble or Unknown(f"{answer.name}: not understood: {said[:80]!r}")
        blocks = {}
        for block in re.split(r"^program ", answer.out, flags=re.MULTILINE)[1:]:
            path, _, said = block.partition("\n")
            blocks[path.rpartition("/")[2]] = said
        return RuntimeVersionsState(
            **{name: _version(name, blocks, answer) for name in ("runc", "crun", "containerd")},
            crio=_version("crio", blocks, answer),
            podman=_version("podman", blocks, answer),
        )


Runtimes = RuntimeVersions  # the name before 0.2


def _version(name: str, blocks: dict[str, str], answer: Section) -> str | Unknown | None:
    said = blocks.get(name)
    if said is None:
        return answer.trouble
    # containerd's line ends in a commit; Debian writes "1.7.24~ds1-6" without the v.
    found = re.search(rf"^{name}\b[^\n]*?\sv?(\d+\.\d+[^\s]*)", said, re.MULTILINE)
    return found[1] if found else answer.trouble or Unknown(f"{name} --version: no number")
