"""What Prometheus is told of the last run: a file for node_exporter's textfile collector.

Sources of the form: node_exporter's README, "Textfile Collector" (names that end in ``.prom``, no
timestamps of its own), and Prometheus' page "Metric and label naming". docs/metrics.md has every
metric and its labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from audit.gauges import Row, gauge, label
from audit.node_metrics import Told, node_metrics
from audit.place import put
from facts import json_values
from facts.json_values import mapping, mappings

_DAY = 24 * 60 * 60

SUFFIX = ".prom"
"""node_exporter reads no file of another name (collector/textfile.go)."""


def text(document: Mapping[str, object], drift: Mapping[str, object]) -> str:
    """The metrics of one run, from what ``audit.json`` and ``drift.json`` hold.

    .. code:: python

        'pyinfra_nvml_node_answered{node="gpu-01"} 1.0'
    """
    waived = mappings(drift.get("waived"))
    registry = CollectorRegistry()
    registry.register(
        _Told(
            [
                *_run(document, drift),
                *node_metrics(_nodes(document, drift, waived)),
                _changes(mappings(drift.get("changes"))),
                _expiries(waived),
            ]
        )
    )
    return generate_latest(registry).decode()


def write(path: Path, content: str) -> None:
    """Puts the file in place at once, readable by node_exporter's own user."""
    if path.suffix != SUFFIX:
        raise ValueError(f"textfile {path}: saw the name {path.name}, want one ending in {SUFFIX}")
    if not path.parent.is_dir():
        # One made here would be a directory that no exporter reads.
        raise ValueError(
            f"textfile {path}: saw no directory {path.parent}, want the one that node_exporter"
            " reads (--collector.textfile.directory)"
        )
    put(path, content)


class _Told(Collector):
    """Gauges that are there already, in the form that prometheus-client writes."""

    def __init__(self, gauges: Iterable[Metric | None]) -> None:
        self._gauges = [gauge for gauge in gauges if gauge is not None]

    @override
    def collect(self) -> Iterable[Metric]:
        return self._gauges


def _run(document: Mapping[str, object], drift: Mapping[str, object]) -> Iterator[Metric | None]:
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
            "Time from one run to the next; not there for a run by hand.",
            drift.get("interval"),
        ),
        "accepted_timestamp_seconds": (
            "When the state was accepted that changes are measured against.",
            drift.get("accepted"),
        ),
    }
    for name, (meaning, value) in told.items():
        number = _number(value)
        yield gauge(name, meaning, [] if number is None else [({}, number)])


def _nodes(
    document: Mapping[str, object], drift: Mapping[str, object], waived: list[dict[str, object]]
) -> list[Told]:
    states = mapping(drift.get("nodes"))
    of_node: dict[object, set[tuple[str, str]]] = {}
    for entry in waived:
        told = (json_values.text(entry.get("check")), json_values.text(entry.get("subject")))
        of_node.setdefault(entry.get("node"), set()).add(told)
    return [
        Told(
            node,
            mapping(states.get(json_values.text(node.get("node")))),
            frozenset(of_node.get(node.get("node"), ())),
        )
        for node in mappings(document.get("nodes"))
    ]


def _changes(changes: list[dict[str, object]]) -> Metric | None:
    pairs = Counter((label(change.get("node")), label(change.get("kind"))) for change in changes)
    return gauge(
        "changes",
        "Changes since the accepted state; not there where there is none.",
        [({"node": node, "kind": kind}, count) for (node, kind), count in pairs.items()],
    )


def _expiries(waived: list[dict[str, object]]) -> Metric | None:
    """Of waivers that hide a finding today: they hold through the day that they name.

    One with no date that can be read is not told.
    """
    rows: list[Row] = []
    for entry in waived:
        names = {name: entry.get(name) for name in ("node", "check", "subject", "owner")}
        if (last := _number(entry.get("expires"))) is not None:
            rows.append((names, last + _DAY))
    return gauge(
        "waiver_expiry_timestamp_seconds",
        "When a finding that is waived today counts again.",
        rows,
    )


def _number(value: object) -> float | None:
    """A number, or a time or date in ISO 8601 as seconds since 1970; a date begins in UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    try:
        # Python 3.10 reads no "Z" (library reference, datetime.fromisoformat).
        time = datetime.fromisoformat(json_values.text(value).replace("Z", "+00:00"))
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
