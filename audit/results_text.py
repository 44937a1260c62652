"""What the command prints of a run: what has changed since the accepted state, what is waived."""

from __future__ import annotations

from collections.abc import Iterator

from audit.drift import Change
from audit.drift_document import Judged


def lines(outcome: Judged) -> Iterator[str]:
    """Drift first, then waivers; nothing where nothing was accepted yet."""
    accepted = outcome.times.get("accepted")
    if accepted:
        count = len(outcome.changes)
        yield f"drift since {accepted}: {count or 'none'}"
    elif outcome.times.get("results"):
        yield "drift: nothing accepted yet, want --accept once"
    yield from outcome.notes
    for change in outcome.changes:
        yield f"  {change.node} · {_told(change)}"
    for waiver in outcome.waivers:
        what = f"{waiver['node']} · {waiver['subject']}  [{waiver['check']}]"
        yield f"waived until {waiver['expires']} by {waiver['owner']}: {what}: {waiver['reason']}"


def _told(change: Change) -> str:
    check = f"  [{change.check}]" if change.check else ""
    if change.kind == "no answer":
        return f"no answer: {change.after}"
    if change.kind in ("vanished", "new node"):
        return change.kind
    values = f"{change.before or 'none'} -> {change.after or 'none'}"
    return f"{change.kind}: {change.subject}: {values}{check}"
