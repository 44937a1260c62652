"""The audit as Markdown, to paste into an issue or a chat; as GitHub and GitLab render it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from audit.report.alike import Rest, Told, findings
from audit.report.document import Run
from audit.report.fleet_table import COLUMNS, rows
from audit.report.node_names import folded
from audit.report.printable import printable
from audit.report.terminal import closing, doubts_of_fleet, lines, notes
from audit.verdict import Verdict

# What Markdown would act on (CommonMark 2.4; an underscore inside a word is itself), and what its
# hosts take for HTML, a mention or a reference, where a backslash does not help.
_MARKUP = re.compile(r"[\\`*{}\[\]|~$!]|(?<!\w)_|_(?!\w)")
_HOSTS = re.compile(r"[<>&#@]")


def markdown(verdicts: Sequence[Verdict], at: datetime, run: Run | None = None) -> str:
    """The fleet's table, every finding with its evidence, and what could not be told."""
    parts = [f"**{escaped(closing(verdicts))}** ({at:%Y-%m-%d %H:%M} UTC)", _table(verdicts)]
    parts += [_finding(told) for told in findings(verdicts)]
    parts += _doubts(verdicts)
    parts += [escaped(note) for note in notes(verdicts, run or Run())]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """The text as text: nothing in it is markup, a mention or a reference."""
    escaped_markup = _MARKUP.sub(lambda found: f"\\{found[0]}", printable(text))
    return _HOSTS.sub(lambda found: f"&#{ord(found[0])};", escaped_markup)


def _table(verdicts: Sequence[Verdict]) -> str:
    drawn = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS)]
    drawn += [" | ".join(map(escaped, row)) for row, _ in rows(verdicts)]
    return "\n".join(f"| {line} |" for line in drawn)


def _finding(told: Told | Rest) -> str:
    nodes = escaped(folded(told.nodes))
    if isinstance(told, Rest):
        return f"**{nodes}** · {told.count} more, **{told.level.value}** `{told.check}`"
    finding = told.finding
    head = f"**{nodes} · {escaped(finding.subject)} · {finding.standing}** `{told.check}`"
    said = [f"- {word}: {escaped(text)}" for word, text in lines(finding)]
    return "\n".join([head, "", *said, *_fenced(finding.evidence)])


def _fenced(evidence: Sequence[str]) -> list[str]:
    """The node's own lines, behind a fence that none of them can close."""
    if not evidence:
        return []
    shown = [printable(line) for line in evidence]
    longest = max((len(run) for run in re.findall(r"`+", "\n".join(shown))), default=0)
    fence = "`" * max(3, longest + 1)
    return ["", f"{fence}text", *shown, fence]


def _doubts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for nodes, title, said in doubts_of_fleet(verdicts):
        head = f"**{escaped(folded(nodes))} · {escaped(title)}**"
        yield "\n".join([head, "", *(f"- {escaped(line)}" for line in said)]).rstrip()
