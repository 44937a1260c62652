"""systemd as this node's service manager: version, taints, and what it said of cgroups."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override

from facts.journal import JournalLine, entries
from facts.probe import Probe, Section, Sections, section
from facts.source import Source
from facts.unknown import Unknown, Value

# /run/systemd/system is a directory where systemd is PID 1 (sd_booted(3)).
_SHOW = """
[ -d /run/systemd/system ] || { echo absent; exit 0; }
systemctl show -p Version -p Tainted -p SystemState
"""

_RELOAD = r"Re(loading\.$|load(ing)? requested|executing\.$)"
_MESSAGE = re.compile(r"System is tainted|Failed to (migrate|delete) controller cgroups")

_SILENT = Unknown("journal: no line of PID 1 in this boot")

_READ = 20000
"""Newest journal lines of PID 1 that are looked through; bounds the time on a busy node."""

# PID 1 says what it is tainted by once a boot, and of cgroups what src/core/cgroup.c prints where
# the hierarchy is not unified. Of a daemon-reload it says, by version of systemd (seen on each):
#   up to 252  Reloading.
#   253 to 255 Reloading requested from client PID 71 ('systemctl') (unit ssh.service)...
#   from 256   Reload requested from client PID 71 ('systemctl') (unit ssh.service)...
# A daemon-reexec (an update of systemd does one) ends in "Reexecuting." on each, and takes unlisted
# devices away as a reload does: seen on 252 and 262, not on 257.
# The first line that was read comes along: it tells since when the reading is whole.
_JOURNAL = rf"""
[ -d /run/systemd/system ] || exit 0
command -v journalctl >/dev/null || exit 127
journalctl -b --utc --no-pager -o short-iso -n {_READ} _PID=1 | grep -v '^-- ' | {{
  IFS= read -r first; printf '%s\n' "$first"
  grep -E 'System is tainted|Failed to (migrate|delete) controller cgroups|: {_RELOAD}' |
    tail -n 400
}}
true
"""

# containerd names its plug-ins while it starts, so within its first lines.
_CONTAINERD = r"""
[ -d /run/systemd/system ] || exit 0
command -v journalctl >/dev/null || exit 127
journalctl -b --utc --no-pager -o short-iso _COMM=containerd | head -n 500 |
  grep -E 'io\.containerd\.monitor\.(task\.)?v1\.cgroups' | head -n 5
true
"""


@dataclass(frozen=True)
class SystemdManager(Value):
    """The service manager.

    ``number`` is the major version. ``taints`` are those of org.freedesktop.systemd1(5), property
    Tainted. ``state`` is what ``systemctl is-system-running`` prints. ``messages`` are this boot's
    lines of the journal about taints and about control groups that did not migrate, PID 1's and
    containerd's. ``reloads`` are the times (UTC, ISO) of this boot's daemon-reloads and
    re-executions, and ``reloaders`` who asked, one each, ``""`` where systemd did not say. Both
    start at ``since``: on a busy node the journal is read only so far back.

    .. code:: python

        SystemdManager(version="257.9-1~deb13u1", number=257, taints=("unmerged-bin",),
                       state="running", messages=(), reloads=("2026-03-01T04:05:06+00:00",),
                       reloaders=("systemctl (snapd.service)",), since="2026-02-27T22:10:41+00:00")
    """

    version: str | Unknown
    number: int | Unknown
    taints: tuple[str, ...] | Unknown
    state: str | Unknown
    messages: tuple[JournalLine, ...] | Unknown
    reloads: tuple[str, ...] | Unknown
    reloaders: tuple[str, ...] | Unknown
    since: str | Unknown


class Manager(Source[SystemdManager | None]):
    """systemd on this node, or ``None`` where it is not PID 1.

    Sources: systemctl(1) ``show``, journalctl(1). ``show`` needs root or a running D-Bus, the
    journal root or the groups systemd-journal or adm.
    """

    probes = (
        Probe("systemd_manager.show", _SHOW),
        Probe("systemd_manager.journal", _JOURNAL, limit=15),
        Probe("systemd_manager.containerd", _CONTAINERD),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> SystemdManager | Unknown | None:
        answer = section(sections, "systemd_manager.show")
        if answer.out.strip() == "absent":
            return None
        version = _shown(answer, "Version")
        # PID 1 always says something while it boots: silence is a journal that was not read.
        journal = entries(section(sections, "systemd_manager.journal")) or _SILENT
        containerd = entries(section(sections, "systemd_manager.containerd"))
        reloads = _reloads(journal)
        return SystemdManager(
            version=version,
            number=_number(version),
            taints=_taints(answer),
            state=_shown(answer, "SystemState"),
            messages=_messages(journal, containerd),
            reloads=_each(reloads, lambda line: line.time),
            reloaders=_each(reloads, _reloader),
            since=journal if isinstance(journal, Unknown) else journal[0].time,
        )


def _shown(answer: Section, name: str) -> str | Unknown:
    # An unknown property prints nothing, an empty one "Name=" (systemctl(1), --property).
    found = re.search(rf"^{name}=(.*)$", answer.out, re.MULTILINE)
    return found[1] if found else answer.trouble or Unknown(f"systemctl show: no {name}=")


def _number(version: str | Unknown) -> int | Unknown:
    if isinstance(version, Unknown):
        return version
    found = re.search(r"\d+", version)
    return int(found[0]) if found else Unknown(f"systemctl show: no number in {version!r}")


def _taints(answer: Section) -> tuple[str, ...] | Unknown:
    tainted = _shown(answer, "Tainted")
    if isinstance(tainted, Unknown):
        return tainted
    return tuple(taint for taint in tainted.strip().split(":") if taint)


def _messages(
    journal: tuple[JournalLine, ...] | Unknown, containerd: tuple[JournalLine, ...] | Unknown
) -> tuple[JournalLine, ...] | Unknown:
    if isinstance(journal, Unknown):
        return journal
    if isinstance(containerd, Unknown):
        return containerd
    return (*(line for line in journal if _MESSAGE.search(line.text)), *containerd)


def _reloads(journal: tuple[JournalLine, ...] | Unknown) -> tuple[JournalLine, ...] | Unknown:
    if isinstance(journal, Unknown):
        return journal
    return tuple(line for line in journal if re.match(_RELOAD, line.text))


def _each(
    lines: tuple[JournalLine, ...] | Unknown, take: Callable[[JournalLine], str]
) -> tuple[str, ...] | Unknown:
    return lines if isinstance(lines, Unknown) else tuple(take(line) for line in lines)


def _reloader(line: JournalLine) -> str:
    if line.text.startswith("Reexecuting"):
        return "daemon-reexec"
    name = re.search(r"PID \d+ \('([^']*)'\)", line.text)
    unit = re.search(r"\(unit ([^)]*)\)", line.text)
    words = [name[1] if name else "", f"({unit[1]})" if unit else ""]
    return " ".join(word for word in words if word)
