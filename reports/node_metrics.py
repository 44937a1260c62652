"""What Prometheus is told of each node: verdict, checks, findings, reboot, versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import Metric

from pyinfra_nvml.audit.record import RecordedVerdict
from pyinfra_nvml.audit.run_record import NodeRecord
from pyinfra_nvml.model.finding import Level, Result, Status
from pyinfra_nvml.reports.gauges import Series, gauge
from pyinfra_nvml.reports.version_labels import driver_labels, engine_labels

WAIVED = "waived"
"""The status of a check whose findings are all waived."""

_SKEW = "driver-skew"
"""The check that tells whether the driver waits for a reboot."""


@dataclass(frozen=True)
class ShownNode:
    """One node by its ``name`` in the labels, what the audit said of it, how it stood then."""

    name: str
    verdict: RecordedVerdict
    standing: NodeRecord | None


def node_metrics(nodes: Sequence[ShownNode]) -> Iterator[Metric | None]:
    """Every gauge of the nodes: 10 series for a node, and one for each of its checks."""
    answered = [node for node in nodes if node.verdict.no_answer is None]
    yield gauge(
        "node_answered",
        "Whether the node answered the audit (1) or did not (0).",
        [({"node": node.name}, int(node.verdict.no_answer is None)) for node in nodes],
    )
    yield gauge(
        "node_status",
        "1: what the last run says of the node (ok, found, unknown) is in the label.",
        [
            ({"node": node.name, "status": node.standing.status.value}, 1)
            for node in nodes
            if node.standing
        ],
    )
    yield gauge(
        "node_execs",
        "Commands that were sent to the node for its audit.",
        [({"node": node.name}, node.verdict.execs) for node in answered],
    )
    yield gauge(
        "check_status",
        "1: what the check says of the node, and its worst level, are in the labels.",
        [row for node in answered for row in _checks(node)],
    )
    yield gauge(
        "findings",
        "Findings on the node that are not waived.",
        [row for node in answered for row in _findings(node)],
    )
    yield gauge(
        "waived_findings",
        "Findings on the node that somebody answers for until a date.",
        [({"node": node.name}, node.verdict.waived) for node in answered],
    )
    yield gauge(
        "reboot_required",
        "Whether the driver on disk waits for a reboot (1, with the reason); not there: unknown.",
        [row for node in answered for row in _reboot(node)],
    )
    yield gauge(
        "driver_info",
        "NVIDIA driver: module in memory, module on disk for the running kernel, libnvidia-ml.",
        [({"node": node.name, **driver_labels(node.verdict.facts or {})}, 1) for node in answered],
    )
    yield gauge(
        "engine_info",
        "Docker engine, its cgroup driver, and the node's cgroup hierarchy.",
        [({"node": node.name, **engine_labels(node.verdict.facts or {})}, 1) for node in answered],
    )


def _checks(node: ShownNode) -> Iterator[Series]:
    for result in node.verdict.results:
        levels = {finding.level for finding in result.findings if finding.counts}
        yield (
            {
                "node": node.name,
                "check": result.check,
                "status": _status(result),
                "level": next((level.value for level in Level if level in levels), ""),
            },
            1,
        )


def _status(result: Result) -> str:
    """``ok``, ``found``, ``unknown``, ``not applicable``, or ``waived``."""
    if result.status is not Status.FOUND or any(finding.counts for finding in result.findings):
        return result.status.value
    return Status.UNKNOWN.value if result.doubts else WAIVED


def _findings(node: ShownNode) -> Iterator[Series]:
    found = [finding.level for _, finding in node.verdict.findings if finding.counts]
    for level in Level:
        yield {"node": node.name, "level": level.value}, found.count(level)


def _reboot(node: ShownNode) -> Iterator[Series]:
    """No row where it could not be told: a 0 would say that none is wanted."""
    if node.standing is None:
        return
    reason = node.standing.reboot or ""
    skew = {result.status for result in node.verdict.results if result.check == _SKEW}
    if reason or Status.UNKNOWN not in skew:
        yield {"node": node.name, "reason": reason}, int(bool(reason))
