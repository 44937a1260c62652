"""What Prometheus is told of the last run: a file for node_exporter's textfile collector.

Sources of the form: node_exporter's README, "Textfile Collector" (names that end in ``.prom``, no
timestamps of its own), and Prometheus' page "Metric and label naming". docs/metrics.md has every
metric and its labels.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta, timezone
from functools import partial
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from pyinfra_nvml.audit.atomic_file import write_atomically
from pyinfra_nvml.audit.record import RecordedAudit
from pyinfra_nvml.audit.run_record import Change, RunRecord, WaivedFinding
from pyinfra_nvml.reports.gauges import gauge, label_value
from pyinfra_nvml.reports.node_metrics import ShownNode, node_metrics
from pyinfra_nvml.reports.run_metrics import run_metrics

LOCAL = "@local"
"""pyinfra's name for the machine that it runs on."""

SUFFIX = ".prom"
"""node_exporter reads no file of another name (collector/textfile.go)."""


def textfile(
    audit: RecordedAudit | None, run: RunRecord, host: str | None = None, day: date | None = None
) -> str:
    """The metrics of one run and of the audit that stands, where there is one.

    The node ``@local`` of pyinfra is shown by the name of this ``host``: each node that audits
    itself has one. Waivers count as of ``day``, today in UTC where none is given.

    .. code:: python

        'pyinfra_nvml_node_answered{node="gpu-01"} 1.0'
    """
    shown = partial(_shown, host or platform.node())
    today = day or datetime.now(timezone.utc).date()
    nodes = [
        ShownNode(shown(node.node), node.on(today), run.nodes.get(node.node))
        for node in (audit.nodes if audit else ())
    ]
    registry = CollectorRegistry()
    registry.register(
        _Told(
            [
                *run_metrics(audit, run),
                *node_metrics(nodes),
                _changes(run.changes, shown),
                _expiries(run.waived, shown),
            ]
        )
    )
    return generate_latest(registry).decode()


def write_textfile(path: Path, content: str) -> None:
    """Puts the file in place at once, readable by node_exporter's own user."""
    if path.suffix != SUFFIX:
        raise ValueError(f"textfile {path}: saw the name {path.name}, want one ending in {SUFFIX}")
    if not path.parent.is_dir():
        # One made here would be a directory that no exporter reads.
        raise ValueError(
            f"textfile {path}: saw no directory {path.parent}, want the one that node_exporter"
            " reads (--collector.textfile.directory)"
        )
    write_atomically(path, content)


def _shown(host: str, node: str) -> str:
    """How a node is called in the labels."""
    return host if node == LOCAL else node


class _Told(Collector):
    """Gauges that are there already, in the form that prometheus-client writes."""

    def __init__(self, gauges: Iterable[Metric | None]) -> None:
        self._gauges = [gauge for gauge in gauges if gauge is not None]

    @override
    def collect(self) -> Iterable[Metric]:
        return self._gauges


def _changes(changes: Sequence[Change], shown: Callable[[str], str]) -> Metric | None:
    pairs = Counter((shown(change.node), label_value(change.kind)) for change in changes)
    return gauge(
        "changes",
        "Changes since the accepted state; not there where there is none.",
        [({"node": node, "kind": kind}, count) for (node, kind), count in pairs.items()],
    )


def _expiries(waived: Sequence[WaivedFinding], shown: Callable[[str], str]) -> Metric | None:
    """Of waivers that hide a finding today: they hold through the day that they name."""
    return gauge(
        "waiver_expiry_timestamp_seconds",
        "When a finding that is waived today counts again.",
        [
            (
                {
                    "node": shown(waiver.node),
                    "check": waiver.check,
                    "subject": waiver.subject,
                    "owner": waiver.owner,
                },
                _end(waiver.expires),
            )
            for waiver in waived
        ],
    )


def _end(day: date) -> float:
    """The end of a day in UTC, in seconds since 1970."""
    return (datetime.combine(day, time(), timezone.utc) + timedelta(days=1)).timestamp()
