"""Which cgroup hierarchy this node runs on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

_ROOT = "/sys/fs/cgroup"

# Only the lines that concern cgroups: a Kubernetes node has thousands of mounts.
_MOUNTS = f"""
sed -n -e '/ - cgroup2* /b cgroup' -e '\\, {_ROOT}[ /],!d' -e ':cgroup' -e 's/^/mount /p' \
  /proc/self/mountinfo
for file in {_ROOT}/cgroup.controllers {_ROOT}/unified/cgroup.controllers; do
  [ -e $file ] && while read -r line; do echo "controllers $line"; done <$file
done
[ -d /run/systemd/system ] && echo systemd
[ -r /proc/self/mountinfo ]
"""

# cgroups(7); name=... is a hierarchy without a controller.
_V1_CONTROLLER = re.compile(
    r"blkio|cpu|cpuacct|cpuset|debug|devices|freezer|hugetlb|memory|misc"
    r"|net_cls|net_prio|perf_event|pids|rdma"
)


class Mode(str, Enum):
    """How cgroups are mounted; ``hybrid`` is v1 controllers with a cgroup2 beside them."""

    V1 = "v1"
    V2 = "v2"
    HYBRID = "hybrid"
    NONE = "none"


@dataclass(frozen=True)
class CgroupState(Value):
    """The hierarchy, its controllers, and systemd's part in it.

    ``controllers`` are those at the top, of both versions. ``systemd`` is whether systemd is the
    service manager here, ``systemd_v1`` whether its v1 hierarchy (name=systemd) is mounted.

    .. code:: python

        CgroupState(Mode.V2, ("cpuset", "cpu", "io", "memory", "pids"),
                    systemd=True, systemd_v1=False)
    """

    mode: Mode
    controllers: tuple[str, ...]
    systemd: bool
    systemd_v1: bool


@dataclass(frozen=True)
class _Mount:
    """A line of mountinfo (proc(5), /proc/pid/mountinfo): place, type, super options."""

    place: str
    kind: str
    options: tuple[str, ...]


class Cgroup(Source[CgroupState]):
    """The cgroup hierarchy of this node.

    Judged as systemd judges it (src/basic/cgroup-util.c, ``cg_unified``): by what is mounted at
    /sys/fs/cgroup. A cgroup2 elsewhere (cilium mounts one under /run) decides nothing. Needs no
    root.
    """

    probes = (Probe("cgroup.mounts", _MOUNTS, lines=r"mount |controllers |systemd$"),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> CgroupState | Unknown:
        answer = section(sections, "cgroup.mounts")
        if answer.trouble:
            return answer.trouble
        mounts = _mounts(answer)
        if not mounts and answer.out.startswith("mount "):
            return Unknown("/proc/self/mountinfo: no line of it was understood")
        mode = _mode(mounts)
        v1 = [mount for mount in mounts if mount.kind == "cgroup"]
        controllers = [] if mode is Mode.V2 else [o for mount in v1 for o in mount.options]
        known = [option for option in controllers if _V1_CONTROLLER.fullmatch(option)]
        lines = re.findall(r"^controllers (.*)$", answer.out, re.MULTILINE)
        v2 = [name for line in lines for name in line.split()]
        return CgroupState(
            mode=mode,
            controllers=tuple(dict.fromkeys([*known, *v2])),
            systemd="systemd" in answer.out.splitlines(),
            systemd_v1=mode is not Mode.V2 and any("name=systemd" in mount.options for mount in v1),
        )


Hierarchy = Cgroup  # the name before 0.2


def _mounts(answer: Section) -> list[_Mount]:
    mounts = []
    for line in answer.out.splitlines():
        left, dash, right = line.removeprefix("mount ").partition(" - ")
        fields, super_block = left.split(), right.split()
        if dash and len(fields) >= 6 and len(super_block) >= 3:
            options = tuple(super_block[-1].split(","))
            mounts.append(_Mount(fields[4], super_block[0], options))
    return mounts


def _mode(mounts: list[_Mount]) -> Mode:
    # The last mount on a place covers those before it.
    top = {mount.place: mount.kind for mount in mounts}
    if top.get(_ROOT) == "cgroup2":
        return Mode.V2
    if not any(mount.kind == "cgroup" for mount in mounts):
        return Mode.NONE
    # systemd 232 kept its own groups in a cgroup2 at .../systemd, later ones at .../unified.
    beside = (top.get(f"{_ROOT}/unified"), top.get(f"{_ROOT}/systemd"))
    return Mode.HYBRID if "cgroup2" in beside else Mode.V1
