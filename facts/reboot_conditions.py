"""What a reboot of this node would meet: who blocks it, who is at work, who would reboot anyway."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    number,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.time_stamps import utc
from pyinfra_nvml.model.unknown import Unknown, Value

# logind keeps an inhibitor as KEY=value lines beside a fifo NAME.ref (systemd, logind-inhibit.c).
# A package manager in a container has another mount namespace than process 1. The helper that
# waits for a shutdown to stop unattended-upgrades has the same comm, cut to 15 bytes, and always
# runs. An install changes a file's ctime, never its mtime, which is the package's (stat(1), %Z).
_ASK = r"""
for file in /run/systemd/inhibit/*; do
  [ -f "$file" ] || continue
  echo inhibitor
  grep -E '^(WHAT|WHO|WHY|MODE)=' "$file" | sed 's/^/entry /'
done
[ -e /run/systemd/shutdown/scheduled ] &&
  grep -E '^MODE=' /run/systemd/shutdown/scheduled | sed 's/^MODE=/scheduled /'
first=$(readlink /proc/1/ns/mnt)
managers='apt|apt-get|aptitude|dpkg|unattended-upgr|dnf|dnf5|yum|rpm|zypper|pacman|dkms'
for comm in $(grep -lxE "$managers" /proc/[0-9]*/comm 2>/dev/null); do
  pid=${comm#/proc/} pid=${pid%/comm}
  [ "$(readlink "/proc/$pid/ns/mnt")" = "$first" ] || continue
  grep -q upgrade-shutdown "/proc/$pid/cmdline" || echo "package-manager $pid $(cat "$comm")"
done 2>/dev/null
for comm in $(grep -lxE 'kured|rebootmgrd' /proc/[0-9]*/comm 2>/dev/null); do
  echo "reboots $(cat "$comm")"
done
for comm in $(grep -lxE 'slurmd|pbs_mom|sbatchd|nomad' /proc/[0-9]*/comm 2>/dev/null); do
  echo "scheduler $(cat "$comm")"
done
command -v apt-config >/dev/null &&
  apt-config dump Unattended-Upgrade::Automatic-Reboot |
  grep -qiE ' "(1|true|yes|on)";$' && echo 'reboots unattended-upgrades (Automatic-Reboot)'
grep -qE '^ *reboot *= *when-' /etc/dnf/automatic.conf 2>/dev/null && echo 'reboots dnf-automatic'
ls -l /proc/[0-9]*/fd 2>/dev/null |
  awk '/^\/proc\// { split($0, path, "/") } / \/dev\/nvidia/ { print path[3] }' | sort -un |
  while read -r pid; do echo "user $pid $(cat "/proc/$pid/comm")"; done 2>/dev/null
[ -d /run/systemd/system ] && echo systemd
"""
_AGE = 'path={0}; [ -z "$path" ] || stat -c "changed %Z" "$path"\ntrue\n'
_LINES = r"(entry|scheduled|package-manager|scheduler|reboots|user|changed) |(inhibitor|systemd)$"


@dataclass(frozen=True)
class Process(Value):
    """One process of the node: its id and name.

    .. code:: python

        Process(412, "dpkg")
    """

    pid: int
    name: str


@dataclass(frozen=True)
class RebootConditionsState(Value):
    """The conditions of a reboot now.

    ``blocks`` are the inhibitors that block a shutdown, as ``who: why``; ``scheduled`` is a
    shutdown that somebody has set (``reboot``, ``poweroff``); ``reboots`` is what reboots this
    node by itself, ``schedulers`` what gives it work; ``users`` are processes with an NVIDIA device
    open; ``changed`` is when the library that was asked for came to the disk (UTC, ISO).

    .. code:: python

        RebootConditionsState(systemd=True, blocks=("apt: dpkg is at work",), scheduled=None,
                              package_managers=(Process(412, "dpkg"),), reboots=("kured",),
                              users=(Process(4242, "python3"),),
                              changed="2026-11-30T04:05:06+00:00")
    """

    systemd: bool
    blocks: tuple[str, ...] = ()
    scheduled: str | None = None
    package_managers: tuple[Process, ...] = ()
    reboots: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    users: tuple[Process, ...] = ()
    changed: str | None = None


class RebootConditions(Source[RebootConditionsState]):
    """What a reboot would meet.

    + library: the file whose coming to the disk is the beginning of a skew

    Sources: /run/systemd (logind's inhibitors, a scheduled shutdown), /proc (who is at work, who
    has a device open), apt-config(8), dnf's automatic.conf, stat(1). Wants root.
    """

    probes = (Probe("reboot_conditions.ask", _ASK + _AGE.format("''"), lines=_LINES),)

    @override
    def command(self, library: str = "") -> str:
        ask = _ASK + _AGE.format(shlex.quote(library))
        return node_script((Probe("reboot_conditions.ask", ask, lines=_LINES),))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> RebootConditionsState | Unknown:
        answer = section(sections, "reboot_conditions.ask")
        if answer.trouble:
            return answer.trouble
        pairs = [line.partition(" ") for line in answer.out.splitlines()]
        said = [(key, rest) for key, _, rest in pairs]
        changed = next((number(rest) for key, rest in said if key == "changed"), None)
        return RebootConditionsState(
            systemd=("systemd", "") in said,
            blocks=tuple(_blocks(answer.out)),
            scheduled=next((rest for key, rest in said if key == "scheduled"), None),
            package_managers=_processes(said, "package-manager"),
            reboots=tuple(dict.fromkeys(rest for key, rest in said if key == "reboots")),
            schedulers=tuple(dict.fromkeys(rest for key, rest in said if key == "scheduler")),
            users=_processes(said, "user"),
            changed=None if changed is None else utc(changed),
        )


Conditions = RebootConditions  # the name before 0.2


def _blocks(text: str) -> list[str]:
    """Inhibitors that keep a shutdown from beginning; those of the mode "delay" do not."""
    found = []
    for block in re.split(r"^inhibitor$", text, flags=re.MULTILINE)[1:]:
        entry = dict(re.findall(r"^entry ([A-Z]+)=(.*)$", block, re.MULTILINE))
        if "shutdown" in entry.get("WHAT", "").split(":") and entry.get("MODE") == "block":
            found.append(f"{_plain(entry.get('WHO', '?'))}: {_plain(entry.get('WHY', '?'))}")
    return found


def _plain(text: str) -> str:
    """logind escapes some bytes the way C does (cescape)."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text.replace("\\s", " "))


def _processes(said: list[tuple[str, str]], key: str) -> tuple[Process, ...]:
    rows = (re.match(r"(\d{1,10}) (.*)$", rest) for word, rest in said if word == key)
    return tuple(Process(int(row[1]), row[2]) for row in rows if row)
