"""What Prometheus is told of each node: verdict, checks, findings, reboot, versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import Metric

from pyinfra_nvml.facts.json_values import mapping, mappings, text
from pyinfra_nvml.model.finding import Level, Status
from pyinfra_nvml.reports.gauges import Row, gauge
from pyinfra_nvml.reports.version_labels import driver_labels, engine_labels

WAIVED = "waived"
"""The status of a check whose findings are all waived."""

_SKEW = "driver-skew"
"""The check that tells whether the driver waits for a reboot."""


@dataclass(frozen=True)
class AuditedNode:
    """One node of ``audit.json``, its entry in ``drift.json``, and what is waived there.

    ``waived`` holds check and subject of every finding that somebody answers for until a date,
    ``shown`` is the node's name in the labels.
    """

    audit: Mapping[str, object]
    drift: Mapping[str, object]
    waived: frozenset[tuple[str, str]]
    shown: str

    @property
    def answered(self) -> bool:
        """Whether the node answered the audit."""
        return self.audit.get("no_answer") is None

    @property
    def facts(self) -> Mapping[str, object]:
        """Its facts, by the names of ``pyinfra_nvml.facts.node.NodeState``."""
        return mapping(self.audit.get("facts"))

    @property
    def checks(self) -> list[dict[str, object]]:
        """What each check said of it."""
        return mappings(self.audit.get("checks"))

    def levels(self, check: Mapping[str, object]) -> list[str]:
        """The levels of a check's findings that are not waived."""
        return [
            text(finding.get("level"))
            for finding in mappings(check.get("findings"))
            if (text(check.get("check")), text(finding.get("subject"))) not in self.waived
        ]


def node_metrics(nodes: Sequence[AuditedNode]) -> Iterator[Metric | None]:
    """Every gauge of the nodes: 10 series for a node, and one for each of its checks."""
    heard = [node for node in nodes if node.answered]
    yield gauge(
        "node_answered",
        "Whether the node answered the audit (1) or did not (0).",
        [({"node": node.shown}, int(node.answered)) for node in nodes],
    )
    yield gauge(
        "node_status",
        "1: what the last run says of the node (ok, found, unknown) is in the label.",
        [({"node": node.shown, "status": node.drift.get("status")}, 1) for node in nodes],
    )
    yield gauge(
        "node_execs",
        "Commands that were sent to the node for its audit.",
        [({"node": node.shown}, _execs(node)) for node in heard],
    )
    yield gauge(
        "check_status",
        "1: what the check says of the node, and its worst level, are in the labels.",
        [row for node in heard for row in _checks(node)],
    )
    yield gauge(
        "findings",
        "Findings on the node that are not waived.",
        [row for node in heard for row in _findings(node)],
    )
    yield gauge(
        "waived_findings",
        "Findings on the node that somebody answers for until a date.",
        [({"node": node.shown}, len(node.waived)) for node in heard],
    )
    yield gauge(
        "reboot_required",
        "Whether the driver on disk waits for a reboot (1, with the reason); not there: unknown.",
        [row for node in heard for row in _reboot(node)],
    )
    yield gauge(
        "driver_info",
        "NVIDIA driver: module in memory, module on disk for the running kernel, libnvidia-ml.",
        [({"node": node.shown, **driver_labels(node.facts)}, 1) for node in heard],
    )
    yield gauge(
        "engine_info",
        "Docker engine, its cgroup driver, and the node's cgroup hierarchy.",
        [({"node": node.shown, **engine_labels(node.facts)}, 1) for node in heard],
    )


def _execs(node: AuditedNode) -> int:
    execs = node.audit.get("execs")
    return execs if isinstance(execs, int) else 0


def _checks(node: AuditedNode) -> Iterator[Row]:
    for check in node.checks:
        levels = node.levels(check)
        yield (
            {
                "node": node.shown,
                "check": check.get("check"),
                "status": _status(check, levels),
                "level": next((level.value for level in Level if level.value in levels), ""),
            },
            1,
        )


def _status(check: Mapping[str, object], levels: Sequence[str]) -> str:
    """``ok``, ``found``, ``unknown``, ``not applicable``, or ``waived``."""
    status = text(check.get("status"))
    if status != Status.FOUND.value or levels:
        return status
    return Status.UNKNOWN.value if mappings(check.get("doubts")) else WAIVED


def _findings(node: AuditedNode) -> Iterator[Row]:
    found = [level for check in node.checks for level in node.levels(check)]
    for level in Level:
        yield {"node": node.shown, "level": level.value}, found.count(level.value)


def _reboot(node: AuditedNode) -> Iterator[Row]:
    """No row where it could not be told: a 0 would say that none is wanted."""
    statuses = {check.get("check"): check.get("status") for check in node.checks}
    reason = text(node.drift.get("reboot"))
    if reason or (node.drift and statuses.get(_SKEW) != Status.UNKNOWN.value):
        yield {"node": node.shown, "reason": reason}, int(bool(reason))
