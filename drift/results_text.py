"""What the command prints of a run: what has changed since the accepted state, what is waived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyinfra_nvml.audit.run_record import Change, WaivedFinding
from pyinfra_nvml.drift.changes import JOINED, SILENT, VANISHED
from pyinfra_nvml.drift.summary import RunOutcome
from pyinfra_nvml.model.printable import printable
from pyinfra_nvml.reports.node_names import fold_names

_REASONS = 3
"""How many reasons for no answer are told."""


def change_lines(outcome: RunOutcome) -> Iterator[str]:
    """Drift first, then waivers; where there is no drift to tell, why, unless that is the reason.

    Of a run that gave no audit nothing is told: what is there is from one before it.
    """
    if not outcome.audited:
        return
    if outcome.accepted:
        count = len(outcome.changes)
        yield f"drift since {outcome.accepted.isoformat(timespec='seconds')}: {count or 'none'}"
    elif outcome.results and outcome.why_no_changes != outcome.reason:
        yield printable(f"drift: {outcome.why_no_changes}")
    yield from _alike((_told(one), one.node) for one in outcome.changes if one.kind != SILENT)
    yield from _unreached([one for one in outcome.changes if one.kind == SILENT])
    waived = [(_waived(waiver), waiver.node) for waiver in outcome.waived]
    if waived:
        yield f"waived: {len(waived)}"
    yield from _alike(waived)


def _unreached(silent: Sequence[Change]) -> Iterator[str]:
    """Reasons differ by the address in them: of a fleet behind a dead switch the first stand."""
    reasons = list(dict.fromkeys(_told(one) for one in silent))
    shown, rest = reasons[:_REASONS], reasons[_REASONS:]
    yield from _alike((_told(one), one.node) for one in silent if _told(one) in shown)
    if rest:
        others = fold_names([one.node for one in silent if _told(one) in rest])
        yield printable(f"  {others} · no answer: {len(rest)} more reasons, each in drift.json")


def _alike(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What is the same on many nodes is told once."""
    groups: dict[str, list[str]] = {}
    for said, node in pairs:
        groups.setdefault(said, []).append(node)
    for said, nodes in groups.items():
        yield printable(f"  {fold_names(nodes)} · {said}")


def _waived(waiver: WaivedFinding) -> str:
    until = f"until {waiver.expires.isoformat()} by {waiver.owner}: {waiver.reason}"
    return f"{waiver.subject}, {until}  [{waiver.check}]"


def _told(change: Change) -> str:
    check = f"  [{change.check}]" if change.check else ""
    if change.kind == SILENT:
        return f"no answer: {change.after}"
    if change.kind in (VANISHED, JOINED):
        return change.kind
    values = f"{change.before or 'none'} -> {change.after or 'none'}"
    return f"{change.kind}: {change.subject}: {values}{check}"
