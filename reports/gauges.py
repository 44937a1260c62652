"""A gauge and its series, with whatever bytes a node said in its labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

PREFIX = "pyinfra_nvml_"

LONGEST_LABEL = 300
"""Characters of a label value: some remote storages drop a sample with more than about 1,000."""

Series = tuple[Mapping[str, object], float]
"""One series: its labels, and its value."""


def gauge(name: str, meaning: str, rows: Iterable[Series]) -> Metric | None:
    """The gauge with these series, or ``None`` where there is none.

    Of two rows with the same labels the first stands: Prometheus refuses a series told twice.

    .. code:: python

        gauge("node_answered", "1: it did.", [({"node": "gpu-01"}, 1)])
    """
    series: dict[tuple[str, ...], float] = {}
    names: tuple[str, ...] = ()
    for labels, value in rows:
        names = tuple(labels)
        series.setdefault(tuple(label_value(value) for value in labels.values()), value)
    if not series:
        return None
    metric = GaugeMetricFamily(PREFIX + name, meaning, labels=names)
    for values, value in series.items():
        metric.add_metric(values, value)
    return metric


def label_value(value: object) -> str:
    """A label's value, not endless, and without half a surrogate pair: JSON can hold one."""
    text = value if isinstance(value, str) else ""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
