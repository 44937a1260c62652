"""Nodes that say the same are told together, so that a large fleet's odd ones stand out."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import Area, Finding, Level

LARGE = 40
"""A fleet of more nodes than this is told by what is alike in it."""

SHOWN = 3
"""How many different findings of one check and level a large fleet's report shows in full."""

KINDS = 6
"""How many it shows where each is of another kind: another reason, or another repair."""

ELSEWHERE = "each in full in the JSON and HTML reports (report_json, report_html)"
"""Where to read what a large fleet's report leaves out."""

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


@dataclass(frozen=True)
class SharedFinding:
    """One finding of one check, and every node that has it word for word."""

    nodes: tuple[str, ...]
    check: str
    area: Area
    finding: Finding


@dataclass(frozen=True)
class OmittedFindings:
    """Findings of one check and standing that are not shown in full."""

    told: tuple[SharedFinding, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node for one in self.told for node in one.nodes))

    @property
    def finding(self) -> Finding:
        """The first of them: its level and standing are those of all."""
        return self.told[0].finding


def group_by(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """What has the same key, in the order of the first of them."""
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def grouped_findings(verdicts: Sequence[Verdict]) -> list[SharedFinding | OmittedFindings]:
    """Every finding of a fleet in the order to look; of a small one node by node."""
    pairs = [
        ((result.check, result.area, finding), verdict.node)
        for verdict in verdicts
        for result, finding in verdict.findings
    ]
    if len(verdicts) <= LARGE:
        return [SharedFinding((node,), *key) for key, node in pairs]
    told = [SharedFinding(tuple(nodes), *key) for key, nodes in group_by(pairs).items()]
    areas, levels = list(Area), list(Level)
    told.sort(key=lambda one: (areas.index(one.area), levels.index(one.finding.level), one.check))
    return [part for group in _kinds(told) for part in _shortened(group)]


def _kinds(told: Sequence[SharedFinding]) -> list[list[SharedFinding]]:
    return list(group_by(((one.check, one.finding.standing), one) for one in told).values())


def _shortened(group: list[SharedFinding]) -> list[SharedFinding | OmittedFindings]:
    # The same for most nodes first: the odd ones of a kind are then what comes after.
    group.sort(key=lambda one: -len(one.nodes))
    kinds = [some[0] for some in group_by((_kind(one.finding), one) for one in group).values()]
    most = max(SHOWN, min(len(kinds), KINDS))
    first = list(dict.fromkeys([*kinds[:KINDS], *group]))
    # A rest of one would take as much room as itself.
    shown = set(first if len(first) == most + 1 else first[:most])
    rest = tuple(one for one in group if one not in shown)
    return [*(one for one in group if one in shown), *([OmittedFindings(rest)] if rest else [])]


def _kind(finding: Finding) -> tuple[object, ...]:
    """What findings of one kind have in common; times and counts in the reason do not part them."""
    return finding.repair, re.sub(r"\d+", "", finding.why)
