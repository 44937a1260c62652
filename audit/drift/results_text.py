"""What the command prints of a run: what has changed since the accepted state, what is waived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from audit.drift.changes import Change
from audit.drift.summary import Judged
from audit.report.node_names import folded
from audit.report.printable import printable


def lines(outcome: Judged) -> Iterator[str]:
    """Drift first, then waivers; where there is no drift to tell, why, unless that is the reason.

    Of a run that gave no audit nothing is told: what is there is from one before it.
    """
    if not outcome.audited:
        return
    accepted = outcome.times.get("accepted")
    if accepted:
        count = len(outcome.changes)
        yield f"drift since {accepted}: {count or 'none'}"
    elif outcome.times.get("results") and outcome.untold != outcome.reason:
        yield printable(f"drift: {outcome.untold}")
    yield from _alike((_told(change), change.node) for change in outcome.changes)
    waived = [(_waived(waiver), waiver["node"]) for waiver in outcome.waivers]
    if waived:
        yield f"waived: {len(waived)}"
    yield from _alike(waived)


def _alike(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What is the same on many nodes is told once."""
    groups: dict[str, list[str]] = {}
    for said, node in pairs:
        groups.setdefault(said, []).append(node)
    for said, nodes in groups.items():
        yield printable(f"  {folded(nodes)} · {said}")


def _waived(waiver: Mapping[str, str]) -> str:
    until = f"until {waiver['expires']} by {waiver['owner']}: {waiver['reason']}"
    return f"{waiver['subject']}, {until}  [{waiver['check']}]"


def _told(change: Change) -> str:
    check = f"  [{change.check}]" if change.check else ""
    if change.kind == "no answer":
        return f"no answer: {change.after}"
    if change.kind in ("vanished", "new node"):
        return change.kind
    values = f"{change.before or 'none'} -> {change.after or 'none'}"
    return f"{change.kind}: {change.subject}: {values}{check}"
