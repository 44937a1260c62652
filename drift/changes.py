"""What differs between the last accepted state of a fleet and what it says today."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from pyinfra_nvml.audit.record import RecordedAudit, RecordedVerdict
from pyinfra_nvml.audit.run_record import Change
from pyinfra_nvml.drift.lasting_facts import differences
from pyinfra_nvml.model.finding import Finding, Level

NEW, GONE, FACT = "new finding", "gone finding", "changed fact"
VANISHED, JOINED, SILENT = "vanished", "new node", "no answer"


def changes(accepted: RecordedAudit, today: RecordedAudit, day: date) -> list[Change]:
    """All differences, in the order of today's inventory, hosts that vanished last.

    An audit of a part of the inventory (``limited``) says nothing of the other hosts.
    """
    # A node that had not answered then (audit.json put in its place by hand) was not accepted.
    before = {node.node: node for node in accepted.nodes if node.no_answer is None}
    found: list[Change] = []
    for node in today.nodes:
        found += _node(before.get(node.node), node.on(day))
    if not today.limited:
        there = {node.node for node in today.nodes}
        found += [_gone_host(name) for name in before if name not in there]
    return found


def _gone_host(name: str) -> Change:
    return Change(name, VANISHED, None, "node", "in the inventory", None)


def _node(accepted: RecordedVerdict | None, today: RecordedVerdict) -> Iterator[Change]:
    name = today.node
    if today.no_answer is not None:
        yield Change(name, SILENT, None, "node", None, today.no_answer)
        return
    if accepted is None:
        yield Change(name, JOINED, None, "node", None, "in the inventory")
        return
    # A waiver that hid a finding when it was accepted, and is over, hides it no more.
    yield from _findings(accepted.on(accepted.day or date.min), today)
    for subject, before, after in differences(accepted.facts, today.facts):
        yield Change(name, FACT, None, subject, before, after)


def _findings(accepted: RecordedVerdict, today: RecordedVerdict) -> Iterator[Change]:
    """Findings by check and subject; a waived one is neither new nor gone."""
    old = _levels(accepted, lambda finding: finding.counts)
    new = _levels(today, lambda finding: finding.counts)
    there = _levels(today, lambda _: True)
    untold = {result.check for result in today.results if result.doubts}
    for (check, subject), level in new.items():
        before = old.get((check, subject))
        if before is not level:
            yield Change(
                today.node, NEW, check, subject, before.value if before else None, level.value
            )
    for (check, subject), level in old.items():
        # Unknown is never ok: what cannot be told today is not gone.
        if (check, subject) not in there and check not in untold:
            yield Change(today.node, GONE, check, subject, level.value, None)


def _levels(
    node: RecordedVerdict, wanted: Callable[[Finding], bool]
) -> dict[tuple[str, str], Level]:
    """The worst level of what was found, by check and subject."""
    levels: dict[tuple[str, str], Level] = {}
    for result, finding in node.findings:
        if wanted(finding):
            # One check's findings come with the worst first.
            levels.setdefault((result.check, finding.subject), finding.level)
    return levels
