"""Nodes that say the same are told together, so that a large fleet's odd ones stand out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from audit.finding import Area, Finding, Level
from audit.verdict import Verdict

LARGE = 40
"""A fleet of more nodes than this is told by what is alike in it."""

SHOWN = 3
"""How many different findings of one check and level a large fleet's report shows in full."""

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Told:
    """One finding of one check, and every node that has it word for word."""

    nodes: tuple[str, ...]
    check: str
    area: Area
    finding: Finding


@dataclass(frozen=True)
class Rest:
    """Findings of one check and level that are not shown in full, and their nodes."""

    nodes: tuple[str, ...]
    check: str
    level: Level
    count: int


def together(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """What has the same key, in the order of the first of them."""
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def findings(verdicts: Sequence[Verdict]) -> list[Told | Rest]:
    """Every finding of a fleet in the order to look; of a small one node by node."""
    pairs = [
        ((result.check, result.area, finding), verdict.node)
        for verdict in verdicts
        for result, finding in verdict.findings
    ]
    if len(verdicts) <= LARGE:
        return [Told((node,), *key) for key, node in pairs]
    told = [Told(tuple(nodes), *key) for key, nodes in together(pairs).items()]
    areas, levels = list(Area), list(Level)
    told.sort(key=lambda one: (areas.index(one.area), levels.index(one.finding.level), one.check))
    return [part for group in _kinds(told) for part in _shortened(group)]


def _kinds(told: Sequence[Told]) -> list[list[Told]]:
    return list(together(((one.check, one.finding.level), one) for one in told).values())


def _shortened(group: list[Told]) -> list[Told | Rest]:
    # The same for most nodes first: the odd ones of a kind are then what comes after.
    group.sort(key=lambda one: -len(one.nodes))
    shown, rest = group[:SHOWN], group[SHOWN:]
    if not rest:
        return list(shown)
    nodes = dict.fromkeys(node for one in rest for node in one.nodes)
    return [*shown, Rest(tuple(nodes), rest[0].check, rest[0].finding.level, len(rest))]
