"""The NVIDIA nodes in containers' /dev, and the answer an open from within their cgroup gets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pyinfra_nvml.facts.probe import Probe, Section, number
from pyinfra_nvml.model.unknown import Unknown, Value

# One process per mount namespace: nsfs inode numbers (ls -i) name a namespace, namespaces(7). The
# oldest comes first; one that ends while it is looked at (a `sleep` of a loop) proves nothing, so
# the next one is taken.
# Services of the node have mount namespaces of their own too (PrivateTmp=). A container's process
# has a 64-digit id in its control group, or is process 1 of a pid namespace below the node's (lxc,
# nspawn): its NSpid line then ends in 1 behind another number (proc(5)).
# The asking shell moves itself into the container's cgroup and ends there: it gets the device
# cgroup's answer for the container, whatever is or is not in its image. Being the first choice of
# the OOM killer, it costs a container at its memory limit nothing.
# Its cgroup is the one of the v1 devices hierarchy where the node has that, else of v2; a nspawn
# machine on v2 shows the v1 hierarchies of its host in /proc/PID/cgroup too.
# A GPU that has fallen off the bus (Xid 79) can hang whoever opens it: then nothing is opened.
_WALK = r"""
echo "uid $ASKER"
[ "$ASKER" = 0 ] || exit 0
hex='[0-9a-f][0-9a-f][0-9a-f][0-9a-f]'
hex=$hex$hex$hex$hex
hex=$hex$hex$hex$hex
bus=unasked
ask='
echo 1000 2>/dev/null >/proc/self/oom_score_adj
echo $$ >"$1/cgroup.procs" || { echo "skip its cgroup took no process"; exit; }
dev=$2
shift 2
for node; do echo "open $node"; true <"$dev/$node"; echo "rc $?"; done
'
within=/sys/fs/cgroup
[ -e $within/cgroup.controllers ] || within=/sys/fs/cgroup/unified
look() { # sets $nodes and, where there is one, $bus
  nodes=
  for node in "/proc/$1/root/dev/"nvidiactl "/proc/$1/root/dev/"nvidia[0-9] \
    "/proc/$1/root/dev/"nvidia[0-9][0-9] "/proc/$1/root/dev/"nvidia-uvm "/proc/$1/root/dev/"dxg \
    "/proc/$1/root/dev/"nvidia-caps/nvidia-cap[0-9]*; do
    [ ! -c "$node" ] || nodes="$nodes ${node#"/proc/$1/root/dev/"}"
  done
  [ -n "$nodes" ] && [ "$bus" = unasked ] || return 0
  if dmesg 2>/dev/null | grep -q 'fallen off the bus'; then bus=lost; else bus=; fi
}
inhabitant() {
  pid=$1; shift
  path='' unified='' named=''
  while IFS=: read -r number controllers place; do
    case $controllers in
      devices) path=$place ;;
      '') [ "$number" != 0 ] || unified=$place ;;
    esac
    case $controllers:$place in *$hex*) named=yes ;; esac
  done <"/proc/$pid/cgroup"
  while [ -z "$named" ] && read -r key ids; do
    [ "$key" = NSpid: ] || continue
    case $ids in *[!0-9]1) named=yes ;; *) return 0 ;; esac
  done <"/proc/$pid/status"
  [ -n "$named" ] && cd "/proc/$pid/root/dev" || return 0
  echo "inhabitant $pid"
  stat -c 'node %n %t %T' "$@"
  if [ -n "$path" ] && [ -d "/sys/fs/cgroup/devices$path" ]; then
    group=/sys/fs/cgroup/devices$path
    echo "cgroup $path"
    while read -r rule; do echo "list $rule"; done <"$group/devices.list"
  else
    group=$within$unified
    echo "cgroup $unified"
  fi
  frozen=
  while read -r key value; do
    [ "$key" != frozen ] || frozen=$value
  done <"$group/cgroup.events"
  if [ "$frozen" = 1 ]; then echo 'skip it is paused'
  elif [ -n "$bus" ]; then echo 'skip a GPU has fallen off the bus, opening it may hang'
  else
    timeout -k 1 4 sh -c "$ask" sh "$group" "/proc/$pid/root/dev" "$@" 2>&1 ||
      echo "skip the open did not end, exit $?"
  fi
}
ls -dLi /proc/[0-9]*/ns/mnt 2>/dev/null | sort -t / -k 3n |
  awk '{ split($2, path, "/"); all[$1] = all[$1] " " path[3] }
    END { for (space in all) print all[space] }' |
  while read -r pids; do
    for pid in $pids; do
      look "$pid"
      block=
      [ -z "$nodes" ] || block=$(inhabitant "$pid" $nodes)
      [ -d "/proc/$pid/root/" ] || continue
      [ -z "$block" ] || printf '%s\n' "$block"
      break
    done
  done 2>/dev/null
"""

PROBE = Probe("container_devices.walk", _WALK, limit=20, cap=1024)

_ERRNO = {
    "Operation not permitted": "EPERM",
    "No such device or address": "ENXIO",
    "Permission denied": "EACCES",
    "Input/output error": "EIO",
    "No such device": "ENODEV",
    "Device or resource busy": "EBUSY",
    "Resource temporarily unavailable": "EAGAIN",
}
_ID = re.compile(r"[0-9a-f]{64}")
_NOT_ROOT = Unknown("devices in containers: want root to look into /proc")
_NOT_UNDERSTOOD = Unknown(f"{PROBE.name}: its answer was not understood")


@dataclass(frozen=True)
class OpenedNode(Value):
    """One node and what an open of it answers: ``OK``, an errno's name, or why it is not known.

    ``name`` is its path below /dev: ``nvidiactl``, ``nvidia-caps/nvidia-cap12``.

    EPERM is the device cgroup's refusal, which NVML turns into "Unknown Error". Every other
    errno comes from behind it: ENXIO means that no driver is there (errno(3)).

    .. code:: python

        OpenedNode("nvidiactl", major=195, minor=255, answer="EPERM")
    """

    name: str
    major: int
    minor: int
    answer: str | Unknown

    @property
    def capability(self) -> bool:
        """Whether it is one of /dev/nvidia-caps: of a MIG instance, or of a right of MIG's."""
        return self.name.startswith("nvidia-caps/")

    @property
    def refused(self) -> bool:
        """Whether the device cgroup refuses it: open(2) says EPERM, a file's mode EACCES."""
        return self.answer == "EPERM"


@dataclass(frozen=True)
class ContainerProcess(Value):
    """One container's process as /proc shows it; ``id`` is empty where no runtime gave one.

    ``cgroup`` is the path that holds its devices: of v1's devices hierarchy, or of v2.
    """

    pid: int
    id: str
    cgroup: str
    nodes: tuple[OpenedNode, ...]
    devices_list: tuple[str, ...] | None = None


@dataclass
class _Block:
    pid: int
    cgroup: str = ""
    nodes: dict[str, tuple[int, int]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    skipped: str = ""
    asked: str = ""
    said: str = ""


def inhabitants(answer: Section) -> tuple[ContainerProcess, ...] | Unknown:
    """Every container whose /dev holds NVIDIA nodes; without root there is no telling.

    A walk that hung keeps what it printed before: the device it hung on is unknown.
    """
    if "uid 0" not in answer.out.splitlines():
        asked = re.search(r"^uid \d+$", answer.out, re.MULTILINE)
        return answer.trouble or (_NOT_ROOT if asked else _NOT_UNDERSTOOD)
    if answer.lost or answer.cut:
        return answer.trouble or ()
    return tuple(_inhabitant(block) for block in _blocks(answer.out))


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        if key == "inhabitant" and (pid := number(rest)):
            blocks.append(_Block(pid))
        elif blocks:
            _take(blocks[-1], key, rest, line)
    return blocks


def _take(block: _Block, key: str, rest: str, line: str) -> None:
    if key == "cgroup":
        block.cgroup = rest
    elif key == "list":
        block.listed.append(rest)
    elif key == "node":
        if found := re.match(r"(\S+) ([0-9a-f]{1,8}) ([0-9a-f]{1,8})$", rest):
            block.nodes[found[1]] = (int(found[2], 16), int(found[3], 16))
    elif key == "skip":
        block.skipped = rest
    elif key == "open":
        block.asked, block.said = rest, ""
    elif key == "rc" and block.asked:
        block.answers[block.asked] = "OK" if rest == "0" else _errno(block.said)
    else:
        block.said = line


def _errno(said: str) -> str:
    text = said.rpartition(": ")[2].strip()
    return _ERRNO.get(text, text or "no answer")


def _inhabitant(block: _Block) -> ContainerProcess:
    identities = _ID.findall(block.cgroup)
    reason = Unknown(block.skipped or "its open did not come back")
    nodes = tuple(
        OpenedNode(name, major, minor, block.answers.get(name, reason))
        for name, (major, minor) in block.nodes.items()
    )
    listed = tuple(block.listed) if block.listed else None
    identity = identities[-1] if identities else ""
    return ContainerProcess(block.pid, identity, block.cgroup, nodes, listed)
