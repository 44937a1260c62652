"""What on this node asks for a reboot, for which packages, and since when."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.time_stamps import utc
from pyinfra_nvml.model.unknown import Unknown, Value

# needs-restarting -r compares the install time of these packages with the boot (dnf-plugins-core,
# needs_restarting.py); asking rpm for the times costs a tenth of starting dnf.
_CORE = (
    "kernel kernel-core kernel-rt glibc linux-firmware systemd dbus dbus-broker dbus-daemon"
    " microcode_ctl"
)

# The time of PID 1's directory is when the node (or container) started; btime counts the kernel's.
_ASK = rf"""
echo "boot $(stat -c %Y /proc/1)"
for flag in /run/reboot-required /run/reboot-needed; do
  [ -e $flag ] || continue
  echo "flag $(stat -c %Y $flag) $flag"
  head -n 20 $flag | sed 's/^/line /'
  [ -e $flag.pkgs ] && sort -u $flag.pkgs | sed 's/^/package /'
done
if command -v needs-restarting >/dev/null && command -v rpm >/dev/null; then
  rpm -q --qf 'installed %{{INSTALLTIME}} %{{NAME}}\n' {_CORE}
fi
true
"""


@dataclass(frozen=True)
class RebootRequest(Value):
    """One request: its source, since when (UTC, ISO), for which packages, in which words.

    .. code:: python

        RebootRequest("/run/reboot-required", since="2026-03-01T04:05:06+00:00",
                      packages=("linux-image-6.8.0-107-generic", "linux-base"),
                      words=("*** System restart required ***",))
    """

    source: str
    since: str
    packages: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class RebootRequiredState(Value):
    """All of them; none is asked for where there is none."""

    requests: tuple[RebootRequest, ...]


class RebootRequired(Source[RebootRequiredState]):
    """The requests for a reboot of this node.

    Sources: /run/reboot-required and its .pkgs (Debian, Ubuntu), /run/reboot-needed (SUSE),
    rpm(8)'s install times of what ``needs-restarting -r`` looks at, where that is installed.
    NVIDIA's packages write none of these: a skewed driver is seen in its versions. Needs no root.
    """

    probes = (Probe("reboot_requests.ask", _ASK),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> RebootRequiredState | Unknown:
        answer = section(sections, "reboot_requests.ask")
        if answer.trouble:
            return answer.trouble
        boot = re.search(r"^boot (\d{1,12})$", answer.out, re.MULTILINE)
        found = [_flag(block) for block in re.split(r"^flag ", answer.out, flags=re.M)[1:]]
        newer = _newer(answer.out, int(boot[1])) if boot else Unknown("when it booted: no time")
        flags = [flag for flag in found if flag]
        if len(flags) < len(found):
            return Unknown(f"{answer.name}: a flag without a time")
        if isinstance(newer, Unknown):
            return RebootRequiredState(tuple(flags)) if flags else newer
        return RebootRequiredState((*flags, *newer))


def _flag(block: str) -> RebootRequest | None:
    head, _, rest = block.partition("\n")
    found = re.match(r"(\d{1,12}) (/\S+)$", head)
    if not found:
        return None
    lines = [line.partition(" ") for line in rest.splitlines()]
    return RebootRequest(
        source=found[2],
        since=utc(int(found[1])),
        packages=tuple(text for key, _, text in lines if key == "package"),
        words=tuple(text for key, _, text in lines if key == "line" and text),
    )


def _newer(text: str, boot: int) -> tuple[RebootRequest, ...]:
    """The request of packages that were installed after the boot, as needs-restarting has it."""
    times = re.findall(r"^installed (\d{1,12}) (\S+)$", text, re.MULTILINE)
    late = [(int(at), name) for at, name in times if int(at) > boot]
    if not late:
        return ()
    names = tuple(dict.fromkeys(name for _, name in late))
    return (RebootRequest("rpm", utc(min(at for at, _ in late)), names),)
