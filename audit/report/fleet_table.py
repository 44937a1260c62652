"""The fleet in one table: a row a node, or a row for all nodes that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from audit.finding import Level
from audit.report.alike import LARGE, together
from audit.report.node_names import folded
from audit.report.printable import printable
from audit.verdict import Verdict
from facts.engine_setup import EngineSetup
from facts.gpu_containers import GpuContainers
from facts.node import NodeState
from facts.unknown import Unknown

COLUMNS = ("node", "engine", "driver", "cgroup", "module", "library", "containers", "verdict")
COLOURS = {Level.BROKEN: "red", Level.AT_RISK: "yellow", Level.ADVICE: "cyan"}
_UNKNOWN = "?"


def table(verdicts: Sequence[Verdict]) -> Table:
    """The rows of a fleet in the order of its inventory; in a large one, those alike in one."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in COLUMNS:
        drawn.add_column(column, overflow="fold")
    for row, worst in rows(verdicts):
        style = COLOURS[worst] if worst else ""
        texts = [Text(printable(cell)) for cell in row]
        texts[-1].stylize(style)
        drawn.add_row(*texts)
    return drawn


def rows(verdicts: Sequence[Verdict]) -> Iterator[tuple[tuple[str, ...], Level | None]]:
    """The table's rows, a text for each of ``COLUMNS``, each with its worst level."""
    keyed = (((cells(verdict.state), verdict.summary), verdict) for verdict in verdicts)
    large = len(verdicts) > LARGE
    groups = together(keyed).values() if large else ([verdict] for verdict in verdicts)
    for group in groups:
        names = [verdict.node for verdict in group]
        yield (_called(names), *cells(group[0].state), group[0].summary), group[0].worst


def _called(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} nodes: {folded(names)}"


def cells(state: NodeState | Unknown) -> tuple[str, ...]:
    """What stands between a node's name and its verdict; ``?`` is what could not be told."""
    if isinstance(state, Unknown):
        return ("-",) * (len(COLUMNS) - 2)
    return (*_engine(state), _hierarchy(state), *_versions(state), _containers(state))


def _engine(state: NodeState) -> tuple[str, str]:
    engine = state.engine
    if engine is None:
        return "none", "-"
    if isinstance(engine, Unknown):
        return _UNKNOWN, _UNKNOWN
    if isinstance(state.setup, EngineSetup) and state.setup.podman:
        return "podman", "-"
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
    return _UNKNOWN if isinstance(found, Unknown) else _count(found)


def _count(found: GpuContainers) -> str:
    more = "" if not found.unseen else " (not all seen)"
    return f"{len(found.containers)} with GPU{more}"
