"""Where each node of a recorded audit stands: ok, found or unknown, at the level asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from pyinfra_nvml.audit.record import RecordedVerdict
from pyinfra_nvml.model.finding import LEVELS, Finding, Level, Result, Status


@dataclass(frozen=True)
class Standing:
    """One node: its status, the worst level that counts, its pending reboot, all in one line.

    ``status`` is ``found`` where a finding reaches the level asked for, else ``unknown`` where
    anything could not be told, ``silent`` where it did not answer at all; a waived finding does not
    count, a waiver hides no unknown.

    .. code:: python

        Standing("gpu-01", Status.FOUND, Level.BROKEN, None,
                 "broken: container trainer: /dev/nvidia0 refused (EPERM) [device-loss]; 1 more")
    """

    node: str
    status: Status
    level: Level | None
    reboot: str | None
    summary: str
    silent: bool = False


def standings(
    nodes: Iterable[RecordedVerdict], asked: str | None, day: date
) -> tuple[Standing, ...]:
    """Every node on this day; ``asked`` is the level to reach, ``None`` each node's own."""
    return tuple(
        _standing(node.on(day), asked or node.asked or Level.AT_RISK.value) for node in nodes
    )


def _standing(node: RecordedVerdict, asked: str) -> Standing:
    if node.no_answer is not None:
        return Standing(node.node, Status.UNKNOWN, None, None, f"no answer: {node.no_answer}", True)
    status = Status.OK
    # No level is asked for by the word "none".
    if asked in LEVELS and node.reaches(Level(asked)):
        status = Status.FOUND
    elif node.doubts or not node.results:
        status = Status.UNKNOWN
    unknown = [_first_doubt(node)] if status is Status.UNKNOWN else []
    words = [*unknown, *_findings(node), *_counts(node)]
    return Standing(node.node, status, node.worst, node.reboot, "; ".join(words) or "ok")


def _first_doubt(node: RecordedVerdict) -> str:
    """The first thing that could not be told, where that decides."""
    for result in node.results:
        for doubt in result.doubts:
            return f"unknown: {doubt.subject}: {doubt.reason} [{result.check}]"
    return "unknown: saw no check of this node, want each"


def _findings(node: RecordedVerdict) -> Iterator[str]:
    """The worst that counts, and how many more do."""
    counted = [pair for pair in node.findings if pair[1].counts]
    if counted:
        result, worst = min(counted, key=_level)
        yield f"{worst.level.value}: {worst.subject}: {worst.saw} [{result.check}]"
    if len(counted) > 1:
        yield f"{len(counted) - 1} more"


def _level(pair: tuple[Result, Finding]) -> int:
    return list(Level).index(pair[1].level)


def _counts(node: RecordedVerdict) -> Iterator[str]:
    if node.waived:
        yield f"{node.waived} waived"
    if node.doubts:
        yield f"{node.doubts} unknown"


def exit_code(found: Sequence[Standing]) -> int:
    """0 clean, 1 a finding reaches the level (even beside unknowns), 2 could not tell."""
    statuses = {standing.status for standing in found}
    if Status.FOUND in statuses:
        return 1
    return 2 if Status.UNKNOWN in statuses or not found else 0
