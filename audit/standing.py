"""Where each node of an audit's document stands: ok, found or unknown, at the level asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyinfra_nvml.model.finding import LEVELS, Level, Status

Document = Mapping[str, Any]
"""A document of audit/document.py, or one node of it, as read from JSON."""


@dataclass(frozen=True)
class Standing:
    """One node: its status, the worst level that counts, its pending reboot, all in one line.

    ``status`` is ``found`` where a finding reaches the level asked for, else ``unknown`` where
    anything could not be told, ``silent`` where it did not answer at all; a waived finding does not
    count, a waiver hides no unknown.

    .. code:: python

        Standing("gpu-01", Status.FOUND, "broken", None,
                 "broken: container trainer: /dev/nvidia0 refused (EPERM) [device-loss]; 1 more")
    """

    node: str
    status: Status
    level: str | None
    reboot: str | None
    summary: str
    silent: bool = False


def standings(document: Document, asked: str | None, day: date) -> list[Standing]:
    """Every node of the document; ``asked`` is the level to reach, ``None`` each node's own."""
    told = ((node, asked or node.get("asked") or Level.AT_RISK.value) for node in nodes(document))
    return [_standing(node, level, day) for node, level in told]


def nodes(document: Document) -> Sequence[Document]:
    """The nodes of a document; none where it has no list of them."""
    found = document.get("nodes")
    return found if isinstance(found, list) else []


def named(node: Document) -> str:
    """The name of a node; one without says nothing of any."""
    name = node["node"]
    if not isinstance(name, str):
        raise TypeError(f"node {name!r}")
    return name


def findings(node: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every finding with its check, worst first, in the order of the document else."""
    pairs = [(check["check"], finding) for check in node["checks"] for finding in check["findings"]]
    return iter(sorted(pairs, key=lambda pair: LEVELS.index(pair[1]["level"])))


def waived(finding: Mapping[str, Any], day: date) -> bool:
    """Whether a waiver holds for this finding on this day."""
    waiver = finding.get("waiver")
    return waiver is not None and day <= date.fromisoformat(waiver["expires"])


def doubts(node: Document) -> int:
    """How many distinct things could not be told."""
    told = {(d["subject"], d["reason"]) for check in node["checks"] for d in check["doubts"]}
    return len(told)


def _standing(node: Document, asked: str, day: date) -> Standing:
    name = named(node)
    if node.get("no_answer") is not None:
        return Standing(name, Status.UNKNOWN, None, None, f"no answer: {node['no_answer']}", True)
    every = list(findings(node))
    counted = [pair for pair in every if not waived(pair[1], day)]
    level = counted[0][1]["level"] if counted else None
    status = Status.OK
    if level and asked in LEVELS and LEVELS.index(level) <= LEVELS.index(asked):
        status = Status.FOUND
    elif doubts(node) or not node["checks"]:
        status = Status.UNKNOWN
    unknown = _doubt(node) if status is Status.UNKNOWN else ""
    words = [unknown, *_words(counted), *_counts(len(every) - len(counted), doubts(node))]
    told = "; ".join(word for word in words if word)
    return Standing(name, status, level, node.get("reboot"), told or "ok")


def _doubt(node: Document) -> str:
    """The first thing that could not be told, where that decides."""
    told = ((check["check"], doubt) for check in node["checks"] for doubt in check["doubts"])
    check, doubt = next(told, (None, None))
    if doubt is None:
        return "unknown: saw no check of this node, want each"
    return f"unknown: {doubt['subject']}: {doubt['reason']} [{check}]"


def _words(counted: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    if counted:
        check, worst = counted[0]
        yield f"{worst['level']}: {worst['subject']}: {worst['saw']} [{check}]"
    if len(counted) > 1:
        yield f"{len(counted) - 1} more"


def _counts(waived: int, doubts: int) -> Iterator[str]:
    if waived:
        yield f"{waived} waived"
    if doubts:
        yield f"{doubts} unknown"


def exit_code(found: Sequence[Standing]) -> int:
    """0 clean, 1 a finding reaches the level (even beside unknowns), 2 could not tell."""
    statuses = {standing.status for standing in found}
    if Status.FOUND in statuses:
        return 1
    return 2 if Status.UNKNOWN in statuses or not found else 0
