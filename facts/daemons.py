"""The daemons that decide about containers on this node, as /proc shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    number,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

NAMES = (
    "dockerd",
    "containerd",
    "cri-dockerd",
    "crio",
    "kubelet",
    "k3s",
    "k3s-server",
    "k3s-agent",
    "rke2",
    "kubelite",
    "rootlesskit",
)
"""Process names as the kernel cuts them, 15 bytes (proc(5), /proc/pid/comm)."""

# comm and cmdline are readable by everyone unless /proc is mounted with hidepid (proc(5)).
_WALK = rf"""
[ -s "$COMMS" ] || exit 1
for found in $(grep -E '^[^:]*:({"|".join(NAMES)})$' "$COMMS"); do
  pid=${{found#/proc/}} pid=${{pid%%/*}}
  echo "process $pid ${{found#*:}}"
  while IFS= read -r line; do printf 'cgroup %s\n' "$line"; done <"/proc/$pid/cgroup"
  while read -r key rest; do
    case $key in
      Uid:) echo "uid $rest" ;;
      NSpid:) echo "nspid $rest"; break ;;
    esac
  done <"/proc/$pid/status"
  tr '\n\0' ' \n' <"/proc/$pid/cmdline" |
    while IFS= read -r word; do printf 'arg %s\n' "$word"; done
done 2>/dev/null
hidden=$(grep -c hidepid /proc/self/mountinfo)
[ -z "$hidden" ] || echo "hidepid $hidden"
"""


@dataclass(frozen=True)
class Daemon(Value):
    """One daemon: process id, name, user id, arguments as started, control groups.

    ``nested`` is true where it runs in a pid namespace below this node's (kind, docker-in-docker,
    nspawn): its NSpid line then has more than one number (proc(5), since Linux 4.1).

    .. code:: python

        Daemon(612, "dockerd", 0, ("/usr/sbin/dockerd", "-H", "fd://"),
               ("0::/system.slice/docker.service",), nested=False)
    """

    pid: int
    name: str
    uid: int
    arguments: tuple[str, ...]
    cgroups: tuple[str, ...]
    nested: bool = False

    @property
    def snap(self) -> bool:
        """Whether it is the docker snap's: its files are under /var/snap (docker-snap, README)."""
        in_files = any("/snap/docker/" in argument for argument in self.arguments)
        return in_files or any("snap.docker." in cgroup for cgroup in self.cgroups)

    def option(self, flag: str) -> str | None:
        """What one of its flags is set to."""
        return option(self.arguments, flag)


def option(arguments: Sequence[str], flag: str) -> str | None:
    """The value of ``--flag value`` or ``--flag=value``; the last one counts."""
    found = None
    for place, argument in enumerate(arguments):
        if argument == flag and place + 1 < len(arguments):
            found = arguments[place + 1]
        elif argument.startswith(f"{flag}="):
            found = argument[len(flag) + 1 :]
    return found


@dataclass(frozen=True)
class DaemonsState(Value):
    """All of them; ``hidden`` where /proc hides other users' processes (hidepid)."""

    daemons: tuple[Daemon, ...]
    hidden: bool = False

    def named(self, *names: str) -> tuple[Daemon, ...]:
        """Those of these names that run on the node itself, not inside a container of it."""
        return tuple(d for d in self.daemons if d.name in names and not d.nested)


class Daemons(Source[DaemonsState]):
    """The container engines and kubelets that run on this node.

    Source: /proc/pid/{comm,cmdline,cgroup,status}, proc(5). Needs no root.
    """

    probes = (Probe("daemons.processes", _WALK),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> DaemonsState | Unknown:
        answer = section(sections, "daemons.processes")
        # grep's own exit code: 1 where it counted no hidepid, which is the last line.
        if answer.trouble and not (answer.rc == 1 and _COUNTED.search(answer.out)):
            return answer.trouble
        if not _COUNTED.search(answer.out):
            return Unknown(f"{answer.name}: its answer was not understood")
        return DaemonsState(_daemons(answer.out), hidden=_hides_processes(answer.out))


_COUNTED = re.compile(r"^hidepid \d+$", re.MULTILINE)


def _hides_processes(text: str) -> bool:
    return any(line.startswith("hidepid ") and line != "hidepid 0" for line in text.splitlines())


def _daemons(text: str) -> tuple[Daemon, ...]:
    blocks: list[dict[str, list[str]]] = []
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        if key == "process":
            blocks.append({"process": [rest]})
        elif blocks and key in ("cgroup", "uid", "nspid", "arg"):
            blocks[-1].setdefault(key, []).append(rest)
    return tuple(daemon for block in blocks if (daemon := _daemon(block)))


def _daemon(block: dict[str, list[str]]) -> Daemon | None:
    word, _, name = block["process"][0].partition(" ")
    uids = [number(uid) for uid in block.get("uid", [""])[0].split()]
    pid = number(word)
    if pid is None or not name:
        return None
    return Daemon(
        pid=pid,
        name=name,
        uid=-1 if not uids or uids[0] is None else uids[0],
        arguments=tuple(block.get("arg", ())),
        cgroups=tuple(block.get("cgroup", ())),
        nested=len(block.get("nspid", [""])[0].split()) > 1,
    )
