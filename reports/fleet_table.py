"""The fleet in one table: a row a node, or a row for all nodes that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from pyinfra_nvml.audit.judgement import WORDS
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.facts.gpu_containers import GpuContainersState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Level
from pyinfra_nvml.model.printable import brief
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.grouping import LARGE, group_by
from pyinfra_nvml.reports.node_names import join_names

COLUMNS = ("node", "engine", "driver", "cgroup", "module", "library", "containers", "verdict")
COLOURS = {Level.BROKEN: "red", Level.AT_RISK: "yellow", Level.ADVICE: "cyan"}
_UNKNOWN = "?"
_SPARE = ("library", "module", "cgroup", "containers", "engine")
_GAP = 2
_NAME = 24
"""Columns that the longest name has at least before it is broken."""


def fleet_table(verdicts: Sequence[Verdict], width: int) -> Table:
    """The rows of a fleet in the order of its inventory; in a large one, those alike in one.

    Columns that a terminal of this width has no room for are left out, the least telling first.
    """
    told = [([brief(cell, 200) for cell in row], worst) for row, worst in table_rows(verdicts)]
    kept = _kept([list(COLUMNS), *(row for row, _ in told)], width)
    drawn = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in kept:
        # Half a version on the next line reads as another one.
        whole = COLUMNS[column] in ("driver", "cgroup", "module", "library")
        drawn.add_column(COLUMNS[column], overflow="fold", no_wrap=whole)
    for row, worst in told:
        texts = [Text(row[column]) for column in kept]
        texts[-1].stylize(COLOURS[worst] if worst else "")
        drawn.add_row(*texts)
    return drawn


def _kept(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    wide = [max(cell_len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    # Names may be broken into lines, those of many nodes in one row above all.
    wide[0] = min(wide[0], max(_NAME, width // 3))
    kept = list(range(len(COLUMNS)))
    for spare in _SPARE:
        if sum(wide[column] + _GAP for column in kept) - _GAP <= width:
            break
        kept.remove(COLUMNS.index(spare))
    return kept


def table_rows(verdicts: Sequence[Verdict]) -> Iterator[tuple[tuple[str, ...], Level | None]]:
    """The table's rows, a text for each of ``COLUMNS``, each with its worst level."""
    keyed = (((state_cells(verdict.state), verdict.summary), verdict) for verdict in verdicts)
    large = len(verdicts) > LARGE
    groups = [*group_by(keyed).values()] if large else [[verdict] for verdict in verdicts]
    shown, rest = _worst(groups) if large else (groups, [])
    for group in shown:
        first = group[0]
        yield (_names(group), *state_cells(first.state), first.summary), first.worst
    if rest:
        words = [verdict.word for verdict in rest]
        counts = [f"{words.count(word)} {word}" for word in WORDS if word in words]
        yield (_names(rest), *(["..."] * (len(COLUMNS) - 2)), ", ".join(counts)), None


def _names(group: Sequence[Verdict]) -> str:
    # Of a large group the first ones, not a column of ranges.
    return join_names([verdict.node for verdict in group], 48, counted=True)


def _worst(groups: list[list[Verdict]]) -> tuple[list[list[Verdict]], list[Verdict]]:
    """The groups to show, of more than a screen holds the worst behind the largest; and the rest.

    Against the largest one sees what is odd in the others.
    """
    if len(groups) <= LARGE:
        return groups, []
    largest = max(groups, key=len)
    groups.sort(key=lambda group: (group is not largest, WORDS.index(group[0].word)))
    return groups[:LARGE], [verdict for group in groups[LARGE:] for verdict in group]


def state_cells(state: NodeState | Unknown) -> tuple[str, ...]:
    """What stands between a node's name and its verdict; ``?`` is what could not be told."""
    if isinstance(state, Unknown):
        return ("-",) * (len(COLUMNS) - 2)
    return (*_engine(state), _hierarchy(state), *_versions(state), _containers(state))


def _engine(state: NodeState) -> tuple[str, str]:
    engine = state.docker_engine
    if engine is None:
        return "none", "-"
    if isinstance(engine, Unknown):
        return _UNKNOWN, _UNKNOWN
    if state.podman:
        return "podman", "-"
    if isinstance(engine.info, Unknown):
        return ("docker, not running", "-") if engine.process is None else ("docker", _UNKNOWN)
    return f"docker {engine.info.server_version}", engine.info.cgroup_driver or _UNKNOWN


def _hierarchy(state: NodeState) -> str:
    if isinstance(state.cgroup, Unknown):
        return _UNKNOWN
    return state.cgroup.mode.value


def _versions(state: NodeState) -> tuple[str, str]:
    driver = state.nvidia_driver
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


def _count(found: GpuContainersState) -> str:
    more = "" if not found.unseen else " (not all seen)"
    return f"{len(found.containers)} with GPU{more}"
