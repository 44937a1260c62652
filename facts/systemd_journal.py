"""What this node's systemd and containerd said in the journal of taints, cgroups and reloads."""

from __future__ import annotations

import re

from pyinfra_nvml.facts.journal import JournalLine
from pyinfra_nvml.model.unknown import Unknown

_RELOAD = r"Re(loading\.$|load(ing)? requested|executing\.$)"
_MESSAGE = re.compile(r"System is tainted|Failed to (migrate|delete) controller cgroups")

_READ = 20000
"""Newest journal lines of PID 1 that are looked through; bounds the time on a busy node."""

# PID 1 says what it is tainted by once a boot, and of cgroups what src/core/cgroup.c prints where
# the hierarchy is not unified. Of a daemon-reload it says, by version of systemd (252, 257
# and 262 seen in the lab, 255 in public logs):
#   up to 252  Reloading.
#   253 to 255 Reloading requested from client PID 71 ('systemctl') (unit ssh.service)...
#   from 256   Reload requested from client PID 71 ('systemctl') (unit ssh.service)...
# A daemon-reexec (an update of systemd does one) ends in "Reexecuting." on each, and takes unlisted
# devices away as a reload does: seen on 252 and 262, not on 257.
# The first line that was read comes along: it tells since when the reading is whole.
MANAGER = rf"""
[ -d /run/systemd/system ] || exit 0
command -v journalctl >/dev/null || exit 127
journalctl -b --utc --no-pager -o short-iso -n {_READ} _PID=1 | awk '
  /^-- / {{ next }}
  !first++ {{ print; next }}
  /System is tainted|Failed to (migrate|delete) controller cgroups|: {_RELOAD}/ {{
    kept[++count % 400] = $0
  }}
  END {{
    if (!first) print ""
    for (at = count > 400 ? count - 399 : 1; at <= count; at++) print kept[at % 400]
  }}'
true
"""

# containerd names its plug-ins while it starts, so within its first lines.
CONTAINERD = r"""
[ -d /run/systemd/system ] || exit 0
command -v journalctl >/dev/null || exit 127
journalctl -b --utc --no-pager -o short-iso _COMM=containerd | awk '
  NR > 500 || count > 4 { exit }
  /io\.containerd\.monitor\.(task\.)?v1\.cgroups/ { print; count++ }'
true
"""


def messages(journal: tuple[JournalLine, ...] | Unknown) -> tuple[JournalLine, ...] | Unknown:
    """What PID 1 said of taints and of control groups."""
    if isinstance(journal, Unknown):
        return journal
    return tuple(line for line in journal if _MESSAGE.search(line.text))


def reloads(journal: tuple[JournalLine, ...] | Unknown) -> tuple[JournalLine, ...] | Unknown:
    """One line of each daemon-reload and each re-execution."""
    if isinstance(journal, Unknown):
        return journal
    return tuple(line for line in journal if re.match(_RELOAD, line.text))


def reloader(line: JournalLine) -> str:
    """Who asked for it: program and unit."""
    if line.text.startswith("Reexecuting"):
        return "daemon-reexec"
    name = re.search(r"PID \d+ \('([^']*)'\)", line.text)
    unit = re.search(r"\(unit ([^)]*)\)", line.text)
    words = [name[1] if name else "", f"({unit[1]})" if unit else ""]
    return " ".join(word for word in words if word)
