"""What Prometheus is told of a run: when it was, how it went, and when the next is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone

from prometheus_client import Metric

from pyinfra_nvml.facts.json_values import text
from pyinfra_nvml.reports.gauges import gauge


def run_metrics(
    document: Mapping[str, object], drift: Mapping[str, object]
) -> Iterator[Metric | None]:
    """When the last run was, how it went, and when the next is due."""
    told = {
        "audit_timestamp_seconds": ("When the nodes were asked.", document.get("time")),
        "last_run_timestamp_seconds": ("When the last run ended.", drift.get("ended")),
        "last_run_duration_seconds": ("How long the last run took.", drift.get("seconds")),
        "last_run_exit_code": (
            "Exit code of the last run: 0 clean, 1 findings, 2 could not tell, 3 usage.",
            drift.get("exit"),
        ),
        "expected_interval_seconds": (
            "Time from one run to the next; not there where no run was told.",
            drift.get("interval"),
        ),
        "accepted_timestamp_seconds": (
            "When the state was accepted that changes are measured against.",
            drift.get("accepted"),
        ),
    }
    for name, (meaning, value) in told.items():
        told_as = number(value)
        yield gauge(name, meaning, [] if told_as is None else [({}, told_as)])


def number(value: object) -> float | None:
    """A number, or a time or date in ISO 8601 as seconds since 1970; a date begins in UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    try:
        # Python 3.10 reads no "Z" (library reference, datetime.fromisoformat).
        time = datetime.fromisoformat(text(value).replace("Z", "+00:00"))
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
