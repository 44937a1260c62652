"""What differs between the last accepted state of a fleet and what it says today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pyinfra_nvml.audit.standing import (
    Document,
    findings,
    named,
    nodes,
    waived,
)
from pyinfra_nvml.drift.lasting_facts import differences

NEW, GONE, FACT = "new finding", "gone finding", "changed fact"
VANISHED, JOINED, SILENT = "vanished", "new node", "no answer"


@dataclass(frozen=True)
class Change:
    """One difference on one node; ``before`` and ``after`` are levels, or a fact in words.

    .. code:: python

        Change("gpu-01", "new finding", "device-loss", "container trainer", None, "broken")
        Change("gpu-01", "changed fact", None, "loaded driver", "550.90.07", "550.107.02")
    """

    node: str
    kind: str
    check: str | None
    subject: str
    before: str | None = None
    after: str | None = None


def changes(accepted: Document, today: Document, day: date) -> list[Change]:
    """All differences, in the order of today's inventory, hosts that vanished last.

    An audit of a part of the inventory (``limited``) says nothing of the other hosts.
    """
    # A node that had not answered then (audit.json put in its place by hand) was not accepted.
    before = {named(one): one for one in accepted["nodes"] if one.get("no_answer") is None}
    found: list[Change] = []
    for node in nodes(today):
        found += _node(before.get(node["node"]), node, day)
    if not today.get("limited"):
        there = {node["node"] for node in nodes(today)}
        found += [_gone_host(name) for name in before if name not in there]
    return found


def _gone_host(name: str) -> Change:
    return Change(name, VANISHED, None, "node", "in the inventory", None)


def _node(accepted: Document | None, today: Document, day: date) -> Iterator[Change]:
    name = today["node"]
    if today.get("no_answer") is not None:
        yield Change(name, SILENT, None, "node", None, str(today["no_answer"]))
        return
    if accepted is None:
        yield Change(name, JOINED, None, "node", None, "in the inventory")
        return
    yield from _findings(accepted, today, day)
    for subject, before, after in differences(accepted.get("facts"), today.get("facts")):
        yield Change(name, FACT, None, subject, before, after)


def _findings(accepted: Document, today: Document, day: date) -> Iterator[Change]:
    """Findings by check and subject; a waived one is neither new nor gone."""
    name = today["node"]
    old = _levels(accepted, lambda finding: not _waived_then(finding, accepted))
    new = _levels(today, lambda finding: not waived(finding, day))
    there = _levels(today, lambda _: True)
    untold = {check["check"] for check in today["checks"] if check["doubts"]}
    for (check, subject), level in new.items():
        if (before := old.get((check, subject))) != level:
            yield Change(name, NEW, check, subject, before, level)
    for (check, subject), level in old.items():
        # Unknown is never ok: what cannot be told today is not gone.
        if (check, subject) not in there and check not in untold:
            yield Change(name, GONE, check, subject, level, None)


def _waived_then(finding: Mapping[str, Any], accepted: Document) -> bool:
    """Whether a waiver hid it when it was accepted; once expired, it is a finding again."""
    return waived(finding, date.fromisoformat(accepted.get("day") or "0001-01-01"))


def _levels(node: Document, counts: Any) -> dict[tuple[str, str], str]:
    """The worst level of what was found, by check and subject."""
    levels: dict[tuple[str, str], str] = {}
    for check, finding in findings(node):
        if counts(finding):
            levels.setdefault((check, finding["subject"]), finding["level"])
    return levels
