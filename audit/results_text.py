"""What the command prints of a run: what has changed since the accepted state, what is waived."""

from __future__ import annotations

from collections.abc import Iterator

from audit.drift import Change
from audit.drift_document import Judged
from audit.printable import printable


def lines(outcome: Judged) -> Iterator[str]:
    """Drift first, then waivers; nothing where nothing was accepted yet."""
    accepted = outcome.times.get("accepted")
    if accepted:
        count = len(outcome.changes)
        yield f"drift since {accepted}: {count or 'none'}"
    elif outcome.times.get("results"):
        yield "drift: nothing accepted yet, want --accept once"
    for change in outcome.changes:
        yield printable(f"  {change.node} · {_told(change)}")
    for waiver in outcome.waivers:
        what = f"{waiver['node']} · {waiver['subject']}  [{waiver['check']}]"
        until = f"waived until {waiver['expires']} by {waiver['owner']}"
        yield printable(f"{until}: {what}: {waiver['reason']}")


def _told(change: Change) -> str:
    check = f"  [{change.check}]" if change.check else ""
    if change.kind == "no answer":
        return f"no answer: {change.after}"
    if change.kind in ("vanished", "new node"):
        return change.kind
    values = f"{change.before or 'none'} -> {change.after or 'none'}"
    return f"{change.kind}: {change.subject}: {values}{check}"
