"""systemd shows no taint that concerns control groups.

`systemctl status` shows taints, and PID 1 logs them once a boot. Only `cgroupsv1` is about cgroups:
the hierarchy is v1 or hybrid, and on hybrid (WSL2) the lines `Failed to migrate controller cgroups`
and `Failed to delete controller cgroups` come with it. They end in "ignoring": the unit keeps
running. `unmerged-bin` is normal on Debian 13 and Ubuntu 25.10, and containerd's line about its
cgroups monitor is printed at every start: neither is a fault, and neither takes a GPU away.

Bad:

    Tainted=cgroupsv1
    ssh.service: Failed to migrate controller cgroups from /system.slice/ssh.service, ignoring

Good:

    Tainted=unmerged-bin

Repair: as for cgroup-hierarchy, by hand: change how the node boots.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.cgroup import Mode
from pyinfra_nvml.facts.journal import JournalLine
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.systemd_manager import SystemdManagerState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP

_CGROUPS_V1 = "cgroupsv1"

_CGROUPS_V1_SINCE = 248
"""The first systemd that names this taint (82f3063218); before, only the lines tell."""

_HARMLESS = {
    "cgroups-missing": "/proc/cgroups is not there: a kernel without v1",
    "local-hwclock": "the hardware clock runs on local time",
    "mtab-not-symlink": "/etc/mtab is a file",
    "old-kernel": "the kernel is older than systemd's baseline",
    "overflowgid-not-65534": "another overflow group",
    "overflowuid-not-65534": "another overflow user",
    "short-gid-range": "a user namespace with few groups",
    "short-uid-range": "a user namespace with few users",
    "split-usr": "/usr on a file system of its own",
    "support-ended": "the distribution no longer supports this release",
    "unmerged-bin": "/usr/sbin is no link to /usr/bin: normal on Debian and Ubuntu",
    "unmerged-usr": "/bin is no link to /usr/bin",
    "var-run-bad": "/var/run is no link to /run",
}
"""Every other taint of systemd 183 to 262 (src/core/taint.c); none concerns a container's GPU."""


def check(node: NodeState) -> Iterator[Outcome]:
    """The taint of cgroup v1 with its lines; any taint that is not known here is a doubt."""
    systemd = node.systemd_manager
    if systemd is None:
        yield NotApplicable("systemd is not the service manager here")
    elif isinstance(systemd, Unknown):
        yield Undetermined("systemd", systemd.reason)
    elif isinstance(systemd.taints, Unknown):
        yield Undetermined("systemd", systemd.taints.reason)
    else:
        yield from _taints(node, systemd, systemd.taints)


def _taints(
    node: NodeState, systemd: SystemdManagerState, taints: tuple[str, ...]
) -> Iterator[Outcome]:
    lines = _lines(systemd)
    if _CGROUPS_V1 in taints or lines:
        yield _finding(node, systemd, taints, lines)
    if isinstance(systemd.messages, Unknown) and _lines_decide(node, systemd, taints):
        yield Undetermined("systemd", systemd.messages.reason)
    for taint in taints:
        if taint != _CGROUPS_V1 and taint not in _HARMLESS:
            yield Undetermined("systemd", f"taint {taint} is not known here")


def _lines(systemd: SystemdManagerState) -> tuple[JournalLine, ...]:
    messages = () if isinstance(systemd.messages, Unknown) else systemd.messages
    return tuple(line for line in messages if "controller cgroups" in line.text)


def _lines_decide(node: NodeState, systemd: SystemdManagerState, taints: tuple[str, ...]) -> bool:
    """Whether the journal could say more: on v1, or on a systemd that has no taint for it."""
    if _CGROUPS_V1 in taints:
        return True
    old = isinstance(systemd.number, int) and systemd.number < _CGROUPS_V1_SINCE
    return old and not (not isinstance(node.cgroup, Unknown) and node.cgroup.mode is Mode.V2)


def _finding(
    node: NodeState,
    systemd: SystemdManagerState,
    taints: tuple[str, ...],
    lines: tuple[JournalLine, ...],
) -> Finding:
    wsl = isinstance(node.wsl, WslState)
    return Finding(
        level=Level.ADVICE,
        subject="systemd",
        saw=f"Tainted={':'.join(taints)}; {_count(systemd.messages, lines)}",
        want="cgroup v2, so no taint cgroupsv1",
        why="the node runs on cgroup v1 or hybrid, and systemd says so"
        + ("; the units named run on, outside some controllers" if lines else ""),
        repair=Repair.MANUAL,
        do="see cgroup-hierarchy"
        + (": on Windows, wsl --update and wsl --shutdown" if wsl else ""),
        avoid="taking the taint as the reason for a lost GPU, or installing systemd or containerd"
        " again: it only names the hierarchy",
        evidence=tuple(f"{line.time} {line.text}" for line in lines[-5:]),
        reference="https://systemd.io/CGROUP_DELEGATION/",
    )


def _count(messages: object, lines: tuple[JournalLine, ...]) -> str:
    if isinstance(messages, Unknown):
        return "journal not read"
    return f"journal lines about control groups not migrated or not deleted: {len(lines)}"
