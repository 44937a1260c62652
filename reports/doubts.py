"""What could not be told: of one node in full, of a large fleet by what is alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.grouping import (
    ELSEWHERE,
    LARGE,
    SHOWN,
    group_by,
)

TITLE = "could not tell"

Group = tuple[tuple[str, ...], str, tuple[str, ...]]
"""Nodes, a title, then a line for each thing, its checks in brackets at its end."""


def node_doubts(verdict: Verdict) -> tuple[str, ...]:
    """What could not be told of a node: a title, then one line each with its checks."""
    if isinstance(verdict.state, Unknown):
        return (f"no answer: {verdict.state.reason}",)
    told = [f"{said}  [{', '.join(by)}]" for said, by in _by_thing(verdict).items()]
    return (TITLE, *told) if told else ()


def fleet_doubts(verdicts: Sequence[Verdict]) -> Iterator[Group]:
    """What could not be told, node by node; of a large fleet each thing once, with its nodes."""
    if len(verdicts) > LARGE:
        yield from _silent(verdicts)
        yield from _untold(verdicts)
        return
    for verdict in verdicts:
        title, *said = node_doubts(verdict) or ("",)
        if title:
            yield (verdict.node,), title, tuple(said)


def _silent(verdicts: Sequence[Verdict]) -> Iterator[Group]:
    reasons = group_by(
        (verdict.state.reason, verdict.node)
        for verdict in verdicts
        if isinstance(verdict.state, Unknown)
    )
    shown, rest = _shortened(reasons)
    for reason, nodes in shown.items():
        yield tuple(nodes), f"no answer: {reason}", ()
    if rest:
        every = [node for some in rest.values() for node in some]
        yield tuple(every), f"no answer: {len(rest)} more reasons, {ELSEWHERE}", ()


def _untold(verdicts: Sequence[Verdict]) -> Iterator[Group]:
    told: dict[str, dict[str, list[str]]] = {}
    for verdict in verdicts:
        for thing, by_checks in _by_thing(verdict).items():
            told.setdefault(", ".join(by_checks), {}).setdefault(thing, []).append(verdict.node)
    lines = []
    for by, things in told.items():
        shown, rest = _shortened(things)
        lines += [(tuple(nodes), f"{thing}  [{by}]") for thing, nodes in shown.items()]
        if rest:
            every = dict.fromkeys(node for some in rest.values() for node in some)
            lines.append((tuple(every), f"{len(rest)} more, {ELSEWHERE}  [{by}]"))
    for alike, said in group_by(lines).items():
        yield alike, TITLE, tuple(said)


def _shortened(
    told: dict[str, list[str]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Those of most nodes, and the rest; a rest of one is shown."""
    ordered = sorted(told.items(), key=lambda one: -len(one[1]))
    most = SHOWN if len(ordered) > SHOWN + 1 else SHOWN + 1
    return dict(ordered[:most]), dict(ordered[most:])


def _by_thing(verdict: Verdict) -> dict[str, list[str]]:
    told = group_by(
        (f"{doubt.subject}: {doubt.reason}", result.check)
        for result in verdict.results
        for doubt in result.doubts
    )
    return {said: list(dict.fromkeys(by)) for said, by in told.items()}
