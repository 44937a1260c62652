"""The audit as one HTML page that needs nothing else: no network, no server, no other file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from pyinfra_nvml.audit.catalogue import check_entries
from pyinfra_nvml.audit.document import Run
from pyinfra_nvml.audit.judgement import WORDS
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import (
    Finding,
    Level,
    Result,
    Status,
)
from pyinfra_nvml.model.printable import printable
from pyinfra_nvml.reports.doubts import node_doubts
from pyinfra_nvml.reports.fleet_table import COLUMNS, state_cells
from pyinfra_nvml.reports.terminal import closing_line, finding_lines

_TEMPLATES = Path(__file__).resolve().parents[1] / "templates"

_SIGNS = {
    "broken": "✖",
    "at risk": "▲",
    "advice": "i",
    "unknown": "?",
    "waived": "○",
    "ok": "✓",
    "no GPU": "\u2013",
    "not applicable": "\u2013",
    "no answer": "∅",
}
"""Colour is never alone: each state has a sign of its own."""


@dataclass(frozen=True)
class CheckCell:
    """What one check says of one node; ``says`` is why it does not apply."""

    check: str
    state: str
    says: str = ""

    @property
    def odd(self) -> bool:
        return self.state not in ("ok", "no GPU", "not applicable")


@dataclass(frozen=True)
class NodeRow:
    """One node: its name, its part of the fleet table, its cells, its findings and doubts."""

    number: int
    node: str
    state: str
    summary: str
    facts: tuple[str, ...]
    cells: tuple[CheckCell, ...]
    findings: tuple[tuple[Result, Finding], ...]
    doubts: tuple[str, ...]
    notes: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()

    @property
    def odd(self) -> bool:
        return bool(self.findings or self.doubts or self.notes or self.plan)


@cache
def template() -> Template:
    """The page's template, compiled; it may be asked for while nodes are waited for."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Everything that a node said passes here, whatever the template does with it.
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    return environment.get_template("report.html.j2")


def page(verdicts: Sequence[Verdict], at: datetime, run: Run | None = None) -> str:
    """The page: a map of nodes by checks, filters, and the evidence behind each cell."""
    style, script = ((_TEMPLATES / name).read_text("utf-8") for name in ("report.css", "report.js"))
    return (
        template().render(
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            at=f"{at:%Y-%m-%d %H:%M} UTC",
            closing=closing_line(verdicts),
            columns=COLUMNS[1:-1],
            checks=[
                (entry.id, entry.area.value, _summary(entry.page)) for entry in check_entries()
            ],
            rows=_worst_first(verdicts, run or Run()),
            signs=_SIGNS,
            counts=_counts(verdicts),
            lines=finding_lines,
        )
        + "\n"
    )


def _hash(text: str) -> str:
    """What a Content-Security-Policy allows a text by (W3C CSP level 3)."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _summary(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def _worst_first(verdicts: Sequence[Verdict], run: Run) -> list[NodeRow]:
    found = [_row(number, verdict, run) for number, verdict in enumerate(verdicts, 1)]
    return sorted(found, key=lambda row: WORDS.index(row.state))


def _row(number: int, verdict: Verdict, run: Run) -> NodeRow:
    return NodeRow(
        number=number,
        node=verdict.node,
        state=verdict.word,
        summary=verdict.summary,
        facts=state_cells(verdict.state),
        cells=_cells(verdict),
        findings=verdict.findings,
        doubts=node_doubts(verdict),
        notes=run.notes(verdict.node),
        plan=tuple(run.plans.get(verdict.node, ())),
    )


def _cells(verdict: Verdict) -> tuple[CheckCell, ...]:
    results = {result.check: result for result in verdict.results}
    return tuple(_cell(entry.id, results.get(entry.id)) for entry in check_entries())


def _cell(check: str, result: Result | None) -> CheckCell:
    if result is None:
        return CheckCell(check, "no answer")
    if result.status is Status.FOUND:
        counted = [finding.level for finding in result.findings if finding.counts]
        return CheckCell(check, min(counted, key=list(Level).index).value if counted else "waived")
    return CheckCell(check, result.status.value, result.reason)


def _counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    words = [verdict.word for verdict in verdicts]
    return {word: words.count(word) for word in WORDS if word in words}
