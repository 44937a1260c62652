"""The audit for people: one table for the fleet, one block per finding, what stays unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.finding import Finding, Level, Repair, Result
from audit.verdict import Verdict
from facts.gpu_containers import GpuContainers
from facts.node import NodeState
from facts.unknown import Unknown

_COLUMNS = ("node", "engine", "driver", "cgroup", "module", "library", "containers", "verdict")
_COLOURS = {Level.BROKEN: "red", Level.AT_RISK: "yellow", Level.ADVICE: "cyan"}
_UNKNOWN = "?"


def show(verdicts: Sequence[Verdict], console: Console) -> None:
    """Prints the fleet table, then every finding in the order to look, then the doubts."""
    console.print(_table(verdicts))
    for verdict in verdicts:
        for result, finding in verdict.findings:
            console.print()
            console.print(_block(verdict.node, result, finding), soft_wrap=True)
    for verdict in verdicts:
        for line in _doubts(verdict):
            console.print(line, soft_wrap=True)
    console.print()
    console.print(_closing(verdicts), soft_wrap=True)


def _table(verdicts: Sequence[Verdict]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in _COLUMNS:
        table.add_column(column, overflow="fold")
    for verdict in verdicts:
        cells = [verdict.node, *_cells(verdict.state)]
        style = _COLOURS[verdict.worst] if verdict.worst else ""
        table.add_row(*(Text(cell) for cell in cells), Text(verdict.summary, style=style))
    return table


def _cells(state: NodeState | Unknown) -> tuple[str, ...]:
    if isinstance(state, Unknown):
        return ("-",) * (len(_COLUMNS) - 2)
    return (*_engine(state), _hierarchy(state), *_versions(state), _containers(state))


def _engine(state: NodeState) -> tuple[str, str]:
    engine = state.engine
    if engine is None:
        return "none", "-"
    if isinstance(engine, Unknown):
        return _UNKNOWN, _UNKNOWN
    if isinstance(engine.info, Unknown):
        return ("docker, not running", "-") if engine.process is None else ("docker", _UNKNOWN)
    return f"docker {engine.info.server_version}", engine.info.cgroup_driver or _UNKNOWN


def _hierarchy(state: NodeState) -> str:
    if isinstance(state.hierarchy, Unknown):
        return _UNKNOWN
    return state.hierarchy.mode.value


def _versions(state: NodeState) -> tuple[str, str]:
    driver = state.driver
    if driver is None:
        return "none", "none"
    if isinstance(driver, Unknown):
        return _UNKNOWN, _UNKNOWN
    return _version(driver.loaded), _version(driver.library)


def _version(value: object) -> str:
    if value is None:
        return "none"
    return _UNKNOWN if isinstance(value, Unknown) else str(value)


def _containers(state: NodeState) -> str:
    found = state.gpu_containers
    if isinstance(found, Unknown):
        return _UNKNOWN
    return _count(found)


def _count(found: GpuContainers) -> str:
    more = "" if not found.unseen else " (not all seen)"
    return f"{len(found.containers)} with GPU{more}"


def _block(node: str, result: Result, finding: Finding) -> Text:
    text = Text(f"{node} · {finding.subject} · ", style="bold")
    text.append(finding.level.value, style=f"bold {_COLOURS[finding.level]}")
    text.append(f"  [{result.check}]", style="dim")
    for word, said in _lines(finding):
        text.append(f"\n  {word:<6}", style="bold")
        text.append(said)
    for line in finding.evidence:
        text.append(f"\n        | {line}", style="dim")
    return text


def _lines(finding: Finding) -> Iterator[tuple[str, str]]:
    yield "saw", finding.saw
    yield "want", finding.want
    yield "why", finding.why
    cost = "" if finding.repair is Repair.NONE else f"   [{finding.repair.value}: "
    yield "do", finding.do + (f"{cost}{finding.repair.cost}]" if cost else "")
    if finding.avoid:
        yield "not", finding.avoid


def _doubts(verdict: Verdict) -> Iterator[Text]:
    if isinstance(verdict.state, Unknown):
        yield Text(f"\n{verdict.node} · no answer: {verdict.state.reason}", style="magenta")
        return
    told: dict[str, list[str]] = {}
    for result in verdict.results:
        for doubt in result.doubts:
            told.setdefault(f"{doubt.subject}: {doubt.reason}", []).append(result.check)
    if told:
        yield Text(f"\n{verdict.node} · could not tell", style="magenta")
    for line, checks in told.items():
        yield Text(f"  {line}").append(f"  [{', '.join(checks)}]", style="dim")


def _closing(verdicts: Sequence[Verdict]) -> str:
    count = len(verdicts)
    worst = [sum(verdict.worst is level for verdict in verdicts) for level in Level]
    words = [f"{n} {level.value}" for n, level in zip(worst, Level, strict=True) if n]
    unknown = sum(bool(verdict.doubts) for verdict in verdicts)
    silent = sum(isinstance(verdict.state, Unknown) for verdict in verdicts)
    words += [f"{unknown} with unknowns"] if unknown else []
    words += [f"{silent} without an answer"] if silent else []
    execs = max((verdict.execs for verdict in verdicts), default=0)
    nodes = "1 node" if count == 1 else f"{count} nodes"
    return f"{nodes}: {', '.join(words) or 'nothing found'}; at most {execs} exec a node"
