"""The accepted state of a fleet: today's, and the earlier one of hosts that today did not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pyinfra_nvml.audit.inventory_name import same_inventory
from pyinfra_nvml.audit.json_file import Unreadable, write_json
from pyinfra_nvml.audit.record import RecordedAudit, read_audit

NAME = "accepted.json"
"""Its file lies beside the audit's document."""


@dataclass(frozen=True)
class Baseline:
    """The accepted state of an inventory, or why there is none.

    ``damaged``: there is one, and nobody can tell what has changed since.
    """

    state: RecordedAudit | None = None
    why: str = ""
    damaged: bool = False


NOTHING_YET = Baseline(why="nothing accepted yet, want --accept once")


def accept_baseline(
    today: RecordedAudit, place: Path, at: datetime, inventory: str | None = None
) -> Iterator[str]:
    """Makes today's state the accepted one in this directory; yields what there is to say of it.

    The state that was accepted of another inventory says nothing of this one's hosts.
    """
    path = place / NAME
    today = replace(today, inventory=inventory)
    earlier = None
    try:
        earlier = read_audit(path) if path.exists() else None
    except Unreadable as reason:
        yield f"{reason}; a new one takes its place"
    if earlier and not same_inventory(earlier.inventory, inventory):
        saw = f"saw the state of {earlier.inventory}"
        yield f"{path}: {saw}; that of {inventory} replaces it"
        earlier = None
    state, kept_as_they_were = merge_baseline(today, earlier, at)
    write_json(path, state.to_json())
    yield from kept_as_they_were
    answered = sum(node.no_answer is None for node in today.nodes)
    yield f"accepted: {answered} of {len(today.nodes)} nodes, in {path}"


def merge_baseline(
    today: RecordedAudit, earlier: RecordedAudit | None, at: datetime
) -> tuple[RecordedAudit, list[str]]:
    """The state to keep, and a line for every host that is not taken as it is today.

    Hosts outside an audit of a part of the inventory stay as they were; hosts that have left the
    inventory go.
    """
    before = {node.node: node for node in earlier.nodes} if earlier else {}
    kept, lines = [], []
    for node in today.nodes:
        if node.no_answer is None:
            kept.append(replace(node, day=at.date()))
        elif node.node in before:
            kept.append(before[node.node])
            lines.append(f"{node.node}: no answer, its earlier accepted state stays")
        else:
            lines.append(
                f"{node.node}: no answer and no earlier accepted state, nothing is accepted"
            )
    names = {node.node for node in today.nodes}
    if today.limited:
        kept += [node for name, node in before.items() if name not in names]
    inventory = today.inventory or (earlier.inventory if earlier else None)
    return RecordedAudit(at, tuple(kept), inventory=inventory), lines
