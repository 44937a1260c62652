"""The audit for people: one table for the fleet, one block per finding, what stays unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from pyinfra_nvml.audit.document import Run
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import Finding, Level
from pyinfra_nvml.model.printable import brief, printable
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.doubts import fleet_doubts
from pyinfra_nvml.reports.fleet_table import COLOURS, fleet_table
from pyinfra_nvml.reports.grouping import (
    ELSEWHERE,
    LARGE,
    OmittedFindings,
    SharedFinding,
    group_by,
    grouped_findings,
)
from pyinfra_nvml.reports.node_names import join_names

_DEPLOY = re.compile(r"deploys/\w+\.py")


def print_report(verdicts: Sequence[Verdict], console: Console) -> None:
    """Prints the fleet table, then every finding in the order to look, then the doubts.

    A fleet of more than ``reports.grouping.LARGE`` nodes is told by what is alike in it.
    """
    console.print(fleet_table(verdicts, console.width))
    for told in grouped_findings(verdicts):
        console.print()
        console.print(_block(told), soft_wrap=True)
    for line in _doubts(verdicts):
        console.print(line, soft_wrap=True)
    console.print()
    for cure in deploy_commands(verdicts):
        console.print(cure, soft_wrap=True, markup=False)
    console.print(closing_line(verdicts), soft_wrap=True)


def _block(told: SharedFinding | OmittedFindings) -> Text:
    if isinstance(told, OmittedFindings):
        return _rest(told)
    finding = told.finding
    subject = f"{brief(join_names(told.nodes))} · {brief(finding.subject)} · "
    text = Text().append(subject, style="bold")
    text.append(finding.standing, style=_style(finding))
    text.append(f"  [{told.check}]", style="dim")
    for word, said in finding_lines(finding):
        text.append(f"\n  {word:<6}", style="bold")
        text.append(brief(said))
    for line in finding.evidence:
        text.append(f"\n        | {brief(line)}", style="dim")
    return text


def _rest(rest: OmittedFindings) -> Text:
    text = Text().append(printable(f"{join_names(rest.nodes)} · "), style="bold")
    text.append(f"{len(rest.told)} more, {rest.finding.standing}", style=_style(rest.finding))
    text.append(f"  [{rest.told[0].check}]", style="dim")
    text.append(f"\n  {ELSEWHERE}")
    return text


def _style(finding: Finding) -> str:
    return f"bold {COLOURS[finding.level]}" if finding.counts else "dim"


def finding_lines(finding: Finding) -> Iterator[tuple[str, str]]:
    """What a finding says, line by line, each behind its word."""
    yield "saw", finding.saw
    yield "want", finding.want
    yield "why", finding.why
    cost = "" if finding.repair is Repair.NONE else f"   [{finding.repair.value}: "
    yield "do", finding.do + (f"{cost}{finding.repair.cost}]" if cost else "")
    if finding.avoid:
        yield "not", finding.avoid
    if waiver := finding.waiver:
        again = ", expired: it counts again" if waiver.expired else ""
        yield "until", f"{waiver.expires} waived by {waiver.owner}: {waiver.reason}{again}"


def _doubts(verdicts: Sequence[Verdict]) -> Iterator[Text]:
    for nodes, title, said in fleet_doubts(verdicts):
        yield Text("\n").append(brief(f"{join_names(nodes)} · {title}"), style="magenta")
        for line in said:
            text, _, checks = line.rpartition("  [")
            yield Text(f"  {brief(text)}").append(f"  [{checks}", style="dim")


def run_notes(verdicts: Sequence[Verdict], run: Run) -> Iterator[str]:
    """The nodes beside whose verdict there is more to know, alike ones of a large fleet in one."""
    keyed = [(note, verdict.node) for verdict in verdicts for note in run.notes(verdict.node)]
    few = len(keyed) <= LARGE
    for (note, _), nodes in group_by(((note, few and node), node) for note, node in keyed).items():
        yield brief(f"{join_names(nodes)} · {note}")


def deploy_commands(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """How each deploy that a finding names is run.

    .. code:: python

        "deploys/fix_cgroup.py: `pyinfra INVENTORY deploys/fix_cgroup.py --dry --diff` shows ..."
    """
    said = (finding.do for verdict in verdicts for _, finding in verdict.findings)
    for deploy in sorted({name for words in said for name in _DEPLOY.findall(words)}):
        shown = f"`pyinfra INVENTORY {deploy} --dry --diff` shows what it would do"
        yield f"{deploy}: {shown}, without --dry it does it"


def closing_line(verdicts: Sequence[Verdict]) -> str:
    """The last line: how many nodes, how bad they are, how many commands each was asked."""
    count = len(verdicts)
    worst = [sum(verdict.worst is level for verdict in verdicts) for level in Level]
    words = [f"{n} {level.value}" for n, level in zip(worst, Level, strict=True) if n]
    unknown = sum(bool(verdict.doubts) for verdict in verdicts)
    silent = sum(isinstance(verdict.state, Unknown) for verdict in verdicts)
    waived = sum(bool(verdict.waived) for verdict in verdicts)
    words += [f"{waived} with waivers"] if waived else []
    words += [f"{unknown} with unknowns"] if unknown else []
    words += [f"{silent} without an answer"] if silent else []
    most = max((verdict.execs for verdict in verdicts), default=0)
    asked = "1 command" if most == 1 else f"{most} commands" if most else "no command"
    nodes = "1 node" if count == 1 else f"{count} nodes"
    if not count:
        return "0 nodes: none was asked"
    return f"{nodes}: {', '.join(words) or 'nothing found'}; at most {asked} a node"
