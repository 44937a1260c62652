"""What Prometheus is told of a run: when it was, how it went, and when the next is due."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from prometheus_client import Metric

from pyinfra_nvml.audit.record import RecordedAudit
from pyinfra_nvml.audit.run_record import RunRecord
from pyinfra_nvml.reports.gauges import gauge


def run_metrics(audit: RecordedAudit | None, run: RunRecord) -> Iterator[Metric | None]:
    """When the last run was, how it went, and when the next is due."""
    yield _single(
        "audit_timestamp_seconds",
        "When the nodes were asked.",
        _stamp(audit.time if audit else None),
    )
    yield _single("last_run_timestamp_seconds", "When the last run ended.", _stamp(run.ended))
    yield _single("last_run_duration_seconds", "How long the last run took.", run.seconds)
    yield _single(
        "last_run_exit_code",
        "Exit code of the last run: 0 clean, 1 findings, 2 could not tell, 3 usage.",
        run.exit,
    )
    yield _single(
        "expected_interval_seconds",
        "Time from one run to the next; not there where no run was told.",
        run.interval,
    )
    yield _single(
        "accepted_timestamp_seconds",
        "When the state was accepted that changes are measured against.",
        _stamp(run.accepted),
    )


def _single(name: str, meaning: str, value: float | None) -> Metric | None:
    return gauge(name, meaning, [] if value is None else [({}, value)])


def _stamp(time: datetime | None) -> float | None:
    return time.timestamp() if time else None
