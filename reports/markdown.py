"""The audit as Markdown, to paste into an issue or a chat; as GitHub and GitLab render it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from pyinfra_nvml.audit.document import Run
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.printable import brief
from pyinfra_nvml.reports.doubts import fleet_doubts
from pyinfra_nvml.reports.fleet_table import COLUMNS, table_rows
from pyinfra_nvml.reports.grouping import (
    ELSEWHERE,
    OmittedFindings,
    SharedFinding,
    grouped_findings,
)
from pyinfra_nvml.reports.node_names import join_names
from pyinfra_nvml.reports.terminal import closing_line, finding_lines, run_notes

# What Markdown would act on (CommonMark 2.4; an underscore inside a word is itself), and what its
# hosts take for HTML, a mention or a reference, where a backslash does not help.
_MARKUP = re.compile(r"[\\`*{}\[\]|~$!]|(?<!\w)_|_(?!\w)")
_HOSTS = re.compile(r"[<>&#@]")

MOST = 65_536
"""Characters in a comment or an issue of GitHub (its refusal: "body is too long")."""


def markdown(verdicts: Sequence[Verdict], at: datetime, run: Run | None = None) -> str:
    """The fleet's table, every finding with its evidence, and what could not be told."""
    parts = [f"**{escaped(closing_line(verdicts))}** ({at:%Y-%m-%d %H:%M} UTC)", _table(verdicts)]
    parts += [escaped(note) for note in run_notes(verdicts, run or Run())]
    parts += [_finding(told) for told in grouped_findings(verdicts)]
    parts += _doubts(verdicts)
    return "\n\n".join(_fitting(parts)) + "\n"


def _fitting(parts: Sequence[str]) -> Iterator[str]:
    """The parts for which one comment has room, and how many are left out."""
    room, left_out = MOST - 200, 0
    for part in parts:
        size = len(part) + len("\n\n")
        if size > room:
            left_out += 1
            continue
        room -= size
        yield part
    if left_out:
        yield f"{left_out} more, for which {MOST} characters have no room: {ELSEWHERE}"


def escaped(text: str, most: int = 1000) -> str:
    """The text as text: nothing in it is markup, a mention or a reference."""
    escaped_markup = _MARKUP.sub(lambda found: f"\\{found[0]}", brief(text, most))
    return _HOSTS.sub(lambda found: f"&#{ord(found[0])};", escaped_markup)


def _table(verdicts: Sequence[Verdict]) -> str:
    drawn = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    drawn += [" | ".join(escaped(cell, 200) for cell in row) for row, _ in table_rows(verdicts)]
    return "\n".join(f"| {line} |" for line in drawn)


def _finding(told: SharedFinding | OmittedFindings) -> str:
    nodes = escaped(join_names(told.nodes))
    if isinstance(told, OmittedFindings):
        more = f"{len(told.told)} more, **{told.finding.standing}** `{told.told[0].check}`"
        return f"**{nodes}** · {more}: {ELSEWHERE}"
    finding = told.finding
    head = f"**{nodes} · {escaped(finding.subject)} · {finding.standing}** `{told.check}`"
    said = [f"- {word}: {escaped(text)}" for word, text in finding_lines(finding)]
    return "\n".join([head, "", *said, *_fenced(finding.evidence)])


def _fenced(evidence: Sequence[str]) -> list[str]:
    """The node's own lines, behind a fence that none of them can close."""
    if not evidence:
        return []
    shown = [brief(line) for line in evidence]
    longest = max((len(run) for run in re.findall(r"`+", "\n".join(shown))), default=0)
    fence = "`" * max(3, longest + 1)
    return ["", f"{fence}text", *shown, fence]


def _doubts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for nodes, title, said in fleet_doubts(verdicts):
        head = f"**{escaped(join_names(nodes))} · {escaped(title)}**"
        yield "\n".join([head, "", *(f"- {escaped(line)}" for line in said)]).rstrip()
