"""Whether this node updates its packages by itself, and which it leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# A timer is on where a link in timers.target.wants says so (systemctl(1), enable); a mask is a
# link to /dev/null in /etc. Debian's cron.daily does the same where systemd is not PID 1.
_WANTS = "/etc/systemd/system/timers.target.wants"
_ASK = rf"""
for unit in apt-daily-upgrade dnf-automatic dnf-automatic-install dnf5-automatic yum-cron; do
  mask=/etc/systemd/system/$unit.timer
  [ -L "$mask" ] && [ "$(readlink "$mask")" = /dev/null ] && continue
  for link in {_WANTS}/$unit.timer /etc/systemd/system/multi-user.target.wants/$unit.service; do
    [ -L "$link" ] && echo "timer $unit"
  done
done
[ -d /run/systemd/system ] || echo no-systemd
command -v unattended-upgrade >/dev/null && echo 'program unattended-upgrade'
for file in /etc/dnf/automatic.conf /etc/yum/yum-cron.conf; do
  [ -e $file ] && grep -HE '^ *apply_updates *=' $file 2>/dev/null | sed 's/^/apply /'
done
if command -v apt-config >/dev/null; then
  echo apt
  apt-config dump APT::Periodic Unattended-Upgrade
fi
"""

_APT = re.compile(r'^([A-Za-z][\w:.-]*) "(.*)";$', re.MULTILINE)
_KNOWN = re.compile(r'(timer|program|apply) |(apt|no-systemd)$|[A-Za-z][\w:./-]* ".*";$')
_OFF = ("", "0", "false", "no", "off", "never")


@dataclass(frozen=True)
class AutomaticUpdatesState(Value):
    """What installs updates by itself.

    ``by`` are the services that are on; ``origins`` and ``blacklist`` are unattended-upgrades'
    settings (apt.conf names Allowed-Origins, Origins-Pattern and Package-Blacklist).

    .. code:: python

        AutomaticUpdatesState(by=("unattended-upgrades",),
                              origins=("${distro_id}:${distro_codename}-security",),
                              blacklist=("nvidia-",))
    """

    by: tuple[str, ...]
    origins: tuple[str, ...] = ()
    blacklist: tuple[str, ...] = ()

    def leaves_out(self, package: str) -> bool:
        """Whether the blacklist names this package: each entry is a regex at the name's start."""
        for entry in self.blacklist:
            try:
                if re.match(entry, package):
                    return True
            except re.error:
                continue
        return False


class AutomaticUpdates(Source[AutomaticUpdatesState]):
    """The automatic updates of this node.

    Sources: apt-config(8), the enabled timers under /etc/systemd/system, dnf's automatic.conf
    (``apply_updates``), yum-cron.conf. Needs no root.
    """

    probes = (Probe("automatic_updates.ask", _ASK),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> AutomaticUpdatesState | Unknown:
        answer = section(sections, "automatic_updates.ask")
        if answer.trouble:
            return answer.trouble
        lines = answer.out.splitlines()
        said = _APT.findall(answer.out)
        odd = [line for line in lines if line.strip() and not _KNOWN.match(line)]
        if odd:
            return Unknown(f"{answer.name}: not understood: {odd[0][:80]!r}")
        apt = dict(said)
        by = ["unattended-upgrades"] if _unattended(lines, apt) else []
        by += [_CRON[unit] for unit in _timers(answer) if unit in _CRON and _applies(lines, unit)]
        return AutomaticUpdatesState(
            by=tuple(dict.fromkeys(by)),
            origins=_list(said, "Allowed-Origins") + _list(said, "Origins-Pattern"),
            blacklist=_list(said, "Package-Blacklist"),
        )


Updates = AutomaticUpdates  # the name before 0.2


_CRON = {
    "dnf-automatic": "dnf-automatic",
    "dnf-automatic-install": "dnf-automatic",
    "dnf5-automatic": "dnf-automatic",
    "yum-cron": "yum-cron",
}


def _unattended(lines: list[str], apt: dict[str, str]) -> bool:
    """Whether apt's daily run installs: the program, the setting and what starts it are there."""
    if "program unattended-upgrade" not in lines:
        return False
    started = "timer apt-daily-upgrade" in lines or "no-systemd" in lines
    on = apt.get("APT::Periodic::Unattended-Upgrade", "0").lower() not in _OFF
    return started and on and apt.get("APT::Periodic::Enable", "1").lower() not in _OFF


def _timers(answer: Section) -> list[str]:
    return re.findall(r"^timer (\S+)$", answer.out, re.MULTILINE)


def _applies(lines: list[str], unit: str) -> bool:
    """dnf-automatic-install installs whatever the file says; the others ask ``apply_updates``."""
    if unit == "dnf-automatic-install":
        return True
    setting = re.compile(r"^apply \S+: *apply_updates *= *(yes|true|1|on)\s*$", re.IGNORECASE)
    return any(setting.match(line) for line in lines)


def _list(said: list[tuple[str, str]], name: str) -> tuple[str, ...]:
    prefix = f"Unattended-Upgrade::{name}"
    return tuple(value for key, value in said if key.startswith(f"{prefix}::") and value)
