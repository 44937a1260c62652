"""What Prometheus is told of the last run: a file for node_exporter's textfile collector.

Sources of the form: node_exporter's README, "Textfile Collector" (names that end in ``.prom``, no
timestamps of its own), and Prometheus' page "Metric and label naming". docs/metrics.md has every
metric and its labels.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from pyinfra_nvml.audit.atomic_file import put
from pyinfra_nvml.facts import json_values
from pyinfra_nvml.facts.json_values import mapping, mappings
from pyinfra_nvml.reports.gauges import Row, gauge, label
from pyinfra_nvml.reports.node_metrics import AuditedNode, node_metrics
from pyinfra_nvml.reports.run_metrics import number, run_metrics

LOCAL = "@local"
"""pyinfra's name for the machine that it runs on."""

_DAY = 24 * 60 * 60

SUFFIX = ".prom"
"""node_exporter reads no file of another name (collector/textfile.go)."""


def text(
    document: Mapping[str, object], drift: Mapping[str, object], host: str | None = None
) -> str:
    """The metrics of one run, from what ``audit.json`` and ``drift.json`` hold.

    The node ``@local`` of pyinfra is shown by the name of this ``host``: each node that audits
    itself has one.

    .. code:: python

        'pyinfra_nvml_node_answered{node="gpu-01"} 1.0'
    """
    named = _Names(host or platform.node())
    waived = mappings(drift.get("waived"))
    registry = CollectorRegistry()
    registry.register(
        _Told(
            [
                *run_metrics(document, drift),
                *node_metrics(_nodes(document, drift, waived, named)),
                _changes(mappings(drift.get("changes")), named),
                _expiries(waived, named),
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


@dataclass(frozen=True)
class _Names:
    """How a node is called in the labels."""

    host: str

    def of(self, entry: Mapping[str, object]) -> str:
        name = json_values.text(entry.get("node"))
        return self.host if name == LOCAL else name


class _Told(Collector):
    """Gauges that are there already, in the form that prometheus-client writes."""

    def __init__(self, gauges: Iterable[Metric | None]) -> None:
        self._gauges = [gauge for gauge in gauges if gauge is not None]

    @override
    def collect(self) -> Iterable[Metric]:
        return self._gauges


def _nodes(
    document: Mapping[str, object],
    drift: Mapping[str, object],
    waived: list[dict[str, object]],
    named: _Names,
) -> list[AuditedNode]:
    states = mapping(drift.get("nodes"))
    of_node: dict[str, set[tuple[str, str]]] = {}
    for entry in waived:
        told = (json_values.text(entry.get("check")), json_values.text(entry.get("subject")))
        of_node.setdefault(json_values.text(entry.get("node")), set()).add(told)
    nodes = [(json_values.text(node.get("node")), node) for node in mappings(document.get("nodes"))]
    return [
        AuditedNode(
            node, mapping(states.get(name)), frozenset(of_node.get(name, ())), named.of(node)
        )
        for name, node in nodes
    ]


def _changes(changes: list[dict[str, object]], named: _Names) -> Metric | None:
    pairs = Counter((named.of(change), label(change.get("kind"))) for change in changes)
    return gauge(
        "changes",
        "Changes since the accepted state; not there where there is none.",
        [({"node": node, "kind": kind}, count) for (node, kind), count in pairs.items()],
    )


def _expiries(waived: list[dict[str, object]], named: _Names) -> Metric | None:
    """Of waivers that hide a finding today: they hold through the day that they name.

    One with no date that can be read is not told.
    """
    rows: list[Row] = []
    for entry in waived:
        about = {name: entry.get(name) for name in ("check", "subject", "owner")}
        if (last := number(entry.get("expires"))) is not None:
            rows.append(({"node": named.of(entry), **about}, last + _DAY))
    return gauge(
        "waiver_expiry_timestamp_seconds",
        "When a finding that is waived today counts again.",
        rows,
    )
