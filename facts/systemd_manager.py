"""systemd as this node's service manager: version, taints, and what it said of cgroups."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.journal import JournalLine, journal_entries
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.systemd_journal import (
    CONTAINERD,
    MANAGER,
    messages,
    reloader,
    reloads,
)
from pyinfra_nvml.model.unknown import Unknown, Value

# /run/systemd/system is a directory where systemd is PID 1 (sd_booted(3)).
_SHOW = """
[ -d /run/systemd/system ] || { echo absent; exit 0; }
systemctl show -p Version -p Tainted -p SystemState
"""

_SILENT = Unknown("journal: no line of PID 1 in this boot")


@dataclass(frozen=True)
class SystemdManagerState(Value):
    """The service manager.

    ``number`` is the major version. ``taints`` are those of org.freedesktop.systemd1(5), property
    Tainted. ``state`` is what ``systemctl is-system-running`` prints. ``messages`` are this boot's
    lines of the journal about taints and about control groups that did not migrate, ``containerd``
    those of containerd about its cgroups monitor. ``reloads`` are the times (UTC, ISO) of this
    boot's daemon-reloads and re-executions, and ``reloaders`` who asked, one each, ``""`` where
    systemd did not say. Both start at ``since``: on a busy node the journal is read only so far
    back.

    .. code:: python

        SystemdManagerState(version="257.9-1~deb13u1", number=257, taints=("unmerged-bin",),
                            state="running", messages=(), containerd=(),
                            reloads=("2026-03-01T04:05:06+00:00",),
                            reloaders=("systemctl (snapd.service)",),
                            since="2026-02-27T22:10:41+00:00")
    """

    version: str | Unknown
    number: int | Unknown
    taints: tuple[str, ...] | Unknown
    state: str | Unknown
    messages: tuple[JournalLine, ...] | Unknown
    containerd: tuple[JournalLine, ...] | Unknown
    reloads: tuple[str, ...] | Unknown
    reloaders: tuple[str, ...] | Unknown
    since: str | Unknown


class SystemdManager(Source[SystemdManagerState | None]):
    """systemd on this node, or ``None`` where it is not PID 1.

    Sources: systemctl(1) ``show``, journalctl(1). ``show`` needs root or a running D-Bus, the
    journal root or the groups systemd-journal or adm.
    """

    probes = (
        Probe("systemd_manager.show", _SHOW),
        Probe("systemd_manager.journal", MANAGER, limit=15),
        Probe("systemd_manager.containerd", CONTAINERD),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> SystemdManagerState | Unknown | None:
        answer = section(sections, "systemd_manager.show")
        if not answer.trouble and answer.out.strip() == "absent":
            return None
        version = _shown(answer, "Version")
        # PID 1 always says something while it boots: silence is a journal that was not read.
        journal = journal_entries(section(sections, "systemd_manager.journal")) or _SILENT
        asked = reloads(journal)
        return SystemdManagerState(
            version=version,
            number=_number(version),
            taints=_taints(answer),
            state=_shown(answer, "SystemState"),
            messages=messages(journal),
            containerd=journal_entries(section(sections, "systemd_manager.containerd")),
            reloads=_each(asked, lambda line: line.time),
            reloaders=_each(asked, reloader),
            since=journal if isinstance(journal, Unknown) else journal[0].time,
        )


Manager = SystemdManager  # the name before 0.2


def _shown(answer: Section, name: str) -> str | Unknown:
    # An unknown property prints nothing, an empty one "Name=" (systemctl(1), --property).
    found = re.search(rf"^{name}=(.*)$", answer.out, re.MULTILINE)
    return found[1] if found else answer.trouble or Unknown(f"systemctl show: no {name}=")


def _number(version: str | Unknown) -> int | Unknown:
    if isinstance(version, Unknown):
        return version
    found = re.search(r"\d{1,9}", version)
    return int(found[0]) if found else Unknown(f"systemctl show: no number in {version!r}")


def _taints(answer: Section) -> tuple[str, ...] | Unknown:
    tainted = _shown(answer, "Tainted")
    if isinstance(tainted, Unknown):
        return tainted
    return tuple(taint for taint in tainted.strip().split(":") if taint)


def _each(
    lines: tuple[JournalLine, ...] | Unknown, take: Callable[[JournalLine], str]
) -> tuple[str, ...] | Unknown:
    return lines if isinstance(lines, Unknown) else tuple(take(line) for line in lines)
