"""What starts things at their time on this node, and what of ours is there to be started."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    number,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

TIMER = "pyinfra-nvml-drift.timer"

# /run/systemd/system is a directory where systemd is PID 1 (sd_booted(3)).
_KIND = """
[ ! -d /run/systemd/system ] || echo systemd
[ ! -d /etc/cron.d ] || ! grep -qsx -e cron -e crond /proc/[0-9]*/comm || echo cron
"""
# A unit that is not loaded is loaded for the question and forgotten again: nothing is reloaded.
_TIMER = f"""
[ -d /run/systemd/system ] || {{ echo absent; exit 0; }}
systemctl show -p ActiveState -p NeedDaemonReload {TIMER}
"""
# --iterations came with systemd 242; before that, the next time alone is told.
_CALENDAR = """
[ -d /run/systemd/system ] || {{ echo absent; exit 0; }}
TZ=UTC systemd-analyze calendar --iterations={1} {0} 2>/dev/null ||
  TZ=UTC systemd-analyze calendar {0}
"""
_ITERATIONS = 15
"""Two weeks of a daily schedule: weekends and the like show."""

# Linux keeps a link's own text apart from what it leads to; a file of ours is never a link.
_FILES = """
for path in {0}; do
  if [ -L "$path" ]; then echo "link $(readlink "$path") $path"
  elif [ -e "$path" ]; then echo "file $(sha256sum <"$path" | cut -d ' ' -f 1) $path"
  fi
done
"""
_NEEDED = """
echo "uid $(id -u)"
if id -u {0} >/dev/null 2>&1; then echo user yes; else echo user no; fi
for path in {1}; do [ -e "$path" ] || echo "missing $path"; done
"""
_NEEDED_LINE = r"(uid \d+|user (yes|no)|missing /.*)$"
_LINE = r"(file [0-9a-f]{64}|link \S+) /"


@dataclass(frozen=True)
class SchedulerState(Value):
    """What of systemd and cron runs here, and our part in it.

    ``gap`` is the longest time in seconds between two of the next runs of the schedule asked for,
    ``files`` the SHA-256 of those of our files that are there, ``links`` where links lead. ``uid``
    is who asked, ``user`` whether the user asked for is there, ``missing`` what else is not.

    .. code:: python

        SchedulerState(systemd=True, cron=False, gap=3600, active=True, stale=False,
                       files={"/etc/systemd/system/pyinfra-nvml-drift.timer": "9f86..."}, links={},
                       uid=0, user=True, missing=())
    """

    systemd: bool
    cron: bool
    gap: int | Unknown | None
    active: bool | Unknown
    stale: bool | Unknown
    files: dict[str, str] | Unknown
    links: dict[str, str] | Unknown
    uid: int | Unknown = 0
    user: bool | Unknown = True
    missing: tuple[str, ...] | Unknown = ()


class Scheduler(Source[SchedulerState]):
    """systemd or cron of this node, and the files of the scheduled audit.

    + calendar: an OnCalendar= of systemd.time(7)
    + paths: the files that are ours
    + user: a user of the node
    + needed: paths that have to be there

    Sources: /run/systemd/system, /etc/cron.d with a cron that runs, systemd-analyze(1)
    ``calendar``, systemctl(1) ``show``. Files that only root may read want root.
    """

    probes = (
        Probe("scheduler.kind", _KIND, lines=r"(systemd|cron)$"),
        Probe("scheduler.calendar", _CALENDAR.format("hourly", _ITERATIONS)),
        Probe("scheduler.timer", _TIMER),
        Probe("scheduler.files", _FILES.format("/dev/null"), lines=_LINE),
        Probe("scheduler.needed", _NEEDED.format("root", "/dev/null"), lines=_NEEDED_LINE),
    )

    @override
    def command(
        self,
        calendar: str = "hourly",
        paths: Sequence[str] = (),
        user: str = "root",
        needed: Sequence[str] = (),
    ) -> str:
        when = _CALENDAR.format(shlex.quote(calendar), _ITERATIONS)
        looked, wanted = (shlex.join(each or ["/dev/null"]) for each in (paths, needed))
        needs = _NEEDED.format(shlex.quote(user), wanted)
        return node_script(
            (
                self.probes[0],
                Probe("scheduler.calendar", when),
                self.probes[2],
                Probe("scheduler.files", _FILES.format(looked), lines=_LINE),
                Probe("scheduler.needed", needs, lines=_NEEDED_LINE),
            )
        )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> SchedulerState | Unknown:
        kind = section(sections, "scheduler.kind")
        if kind.trouble:
            return kind.trouble
        kinds = kind.out.split()
        timer = section(sections, "scheduler.timer")
        files = section(sections, "scheduler.files")
        needed = section(sections, "scheduler.needed")
        return SchedulerState(
            systemd="systemd" in kinds,
            cron="cron" in kinds,
            gap=_gap(section(sections, "scheduler.calendar")),
            active=_shown(timer, "ActiveState", "active"),
            stale=_shown(timer, "NeedDaemonReload", "yes"),
            files=_paths(files, "file"),
            links=_paths(files, "link"),
            uid=_uid(needed),
            user=_user(needed),
            missing=needed.trouble or tuple(_said(needed, "missing")),
        )


# "Next elapse: Mon 2026-11-30 14:00:00 UTC", then "Iter. #2: ..." (252) or "Iteration #2: ..."
# (257, 262), each with the zone that TZ asks for.
_TIME = re.compile(r"^ *(?:Next elapse|Iter(?:\.|ation) #\d+): \w+ ([-\d]{10} [:\d]{8}) UTC$", re.M)


def _absent(answer: Section) -> bool:
    return not answer.trouble and answer.out.strip() == "absent"


def _gap(answer: Section) -> int | Unknown | None:
    if _absent(answer):
        return None
    if answer.rc not in (0, None) and "Failed to parse" in answer.err:
        return Unknown(answer.said)
    if answer.trouble:
        return answer.trouble
    try:
        times = [datetime.strptime(text, "%Y-%m-%d %H:%M:%S") for text in _TIME.findall(answer.out)]
    except ValueError:
        return Unknown(f"{answer.name}: not understood")
    gaps = [later - sooner for sooner, later in pairwise(times)]
    if not gaps:
        return Unknown(f"{answer.name}: it comes up {'once' if times else 'never'}")
    return int(max(gaps).total_seconds())


def _shown(answer: Section, name: str, wanted: str) -> bool | Unknown:
    if _absent(answer):
        return False
    found = re.search(rf"^{name}=(.*)$", answer.out, re.MULTILINE)
    return found[1] == wanted if found else answer.trouble or Unknown(f"{answer.name}: no {name}=")


def _said(answer: Section, key: str) -> list[str]:
    pairs = [line.partition(" ") for line in answer.out.splitlines()]
    return [value for word, _, value in pairs if word == key]


def _uid(answer: Section) -> int | Unknown:
    uid = number("".join(_said(answer, "uid")))
    return answer.trouble or (Unknown("id -u: no number") if uid is None else uid)


def _user(answer: Section) -> bool | Unknown:
    said = _said(answer, "user")
    return answer.trouble or ("yes" in said if said else Unknown(f"{answer.name}: no user"))


def _paths(answer: Section, kind: str) -> dict[str, str] | Unknown:
    if answer.trouble:
        return answer.trouble
    rows = [line.split(" ", 2) for line in answer.out.splitlines()]
    return {row[2]: row[1] for row in rows if len(row) == 3 and row[0] == kind}
