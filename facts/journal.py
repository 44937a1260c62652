"""Lines of this node's journal, read with ``journalctl --utc -o short-iso``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyinfra_nvml.facts.probe import Section
from pyinfra_nvml.model.unknown import Unknown, Value

# 2026-03-01T04:05:06+0000 host systemd[1]: text; from systemd 255 on the offset has a colon.
_LINE = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\+00:?00|Z) \S+ [^\s:]+: (.*)$")

# What journalctl says on standard error where it shows less than there is (src/shared/
# journal-util.c): a user outside these groups sees at most the lines of his own programs.
_KEPT = re.compile(r"insufficient permissions|not seeing messages", re.IGNORECASE)
_LESS = re.compile(r"No journal files were found|Failed to |boot ID|not found", re.IGNORECASE)


@dataclass(frozen=True)
class JournalLine(Value):
    """One line: when (UTC), and what was said; without the host's name.

    .. code:: python

        JournalLine("2026-03-01T04:05:06+00:00", "System is tainted: cgroupsv1")
    """

    time: str
    text: str


def journal_entries(answer: Section) -> tuple[JournalLine, ...] | Unknown:
    """The lines of a probe that ran journalctl, or why they cannot be taken as all there are."""
    if answer.trouble:
        return answer.trouble
    if _KEPT.search(answer.err):
        return Unknown(
            "journal: kept from this user; root and the groups adm, systemd-journal see it"
        )
    for complaint in answer.err.splitlines():
        if _LESS.search(complaint):
            return Unknown(f"journal: {complaint.strip()[:200]}")
    lines = answer.out.splitlines()
    # A message's second line is indented; journalctl's own remarks start with dashes.
    odd = (line for line in lines if line.strip() and not re.match(r" |-- ", line))
    if unread := next((line for line in odd if not _LINE.match(line)), ""):
        return Unknown(f"journal: not understood: {unread[:80]!r}")
    found = (_LINE.match(line) for line in lines)
    return tuple(JournalLine(f"{line[1]}+00:00", line[2]) for line in found if line)
