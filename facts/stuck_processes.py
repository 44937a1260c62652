"""Containers' processes that wait in the kernel and cannot be killed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# State D is the third field of /proc/pid/stat, behind the name in brackets (proc(5)). A disk read
# shows as D for a moment, so what was seen is looked at again a second later.
_TWICE = r"""
sleeping() {
  for stat in $(grep -lE '^[0-9]+ \(.*\) D ' "$@" 2>/dev/null); do
    grep -qE '[0-9a-f]{64}' "${stat%/stat}/cgroup" && echo "$stat"
  done
}
first=$(sleeping /proc/[0-9]*/stat)
[ -n "$first" ] || exit 0
sleep 1
for stat in $(sleeping $first); do
  pid=${stat%/stat}
  echo "stuck ${pid#/proc/} $(cat "$pid/comm")"
  sed 's/^/cgroup /' "$pid/cgroup"
done 2>/dev/null
true
"""


@dataclass(frozen=True)
class Stuck(Value):
    """One process in state D: its id, name, and its container's id.

    .. code:: python

        Stuck(4242, "python3", container="4f66...")
    """

    pid: int
    name: str
    container: str


@dataclass(frozen=True)
class StuckProcessesState(Value):
    """All of them that were in state D twice, a second apart."""

    processes: tuple[Stuck, ...]


class StuckProcesses(Source[StuckProcessesState]):
    """Containers' processes in uninterruptible sleep: a stop of their container waits for them.

    Source: /proc/pid/stat and /proc/pid/cgroup, proc(5). Needs no root.
    """

    probes = (Probe("stuck_processes.twice", _TWICE, lines=r"(stuck|cgroup) "),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> StuckProcessesState | Unknown:
        answer = section(sections, "stuck_processes.twice")
        if answer.trouble:
            return answer.trouble
        found: list[Stuck] = []
        for line in answer.out.splitlines():
            if row := re.match(r"stuck (\d{1,10}) (.*)$", line):
                found.append(Stuck(int(row[1]), row[2], ""))
            elif found and (identity := re.search(r"[0-9a-f]{64}", line)):
                found[-1] = Stuck(found[-1].pid, found[-1].name, identity[0])
        return StuckProcessesState(tuple(found))


StuckInKernel = StuckProcesses  # the name before 0.2
