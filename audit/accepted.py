"""The accepted state of a fleet: today's, and the earlier one of hosts that today did not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pyinfra_nvml.audit import document_versions, json_file
from pyinfra_nvml.audit.inventory_name import same
from pyinfra_nvml.audit.standing import Document, nodes

NAME = "accepted.json"
"""Its file lies beside the audit's document."""


@dataclass(frozen=True)
class Earlier:
    """The accepted state of an inventory, or why there is none.

    ``damaged``: there is one, and nobody can tell what has changed since.
    """

    state: Document | None = None
    why: str = ""
    damaged: bool = False


NOTHING_YET = Earlier(why="nothing accepted yet, want --accept once")


def accept(
    today: Document, place: Path, at: datetime, inventory: str | None = None
) -> Iterator[str]:
    """Makes today's state the accepted one in this directory; yields what there is to say of it.

    The state that was accepted of another inventory says nothing of this one's hosts.
    """
    path = place / NAME
    today = {**today, "inventory": inventory}
    try:
        earlier = json_file.read(path, document_versions.AUDIT) if path.exists() else None
        if earlier and not same(earlier.get("inventory"), inventory):
            saw = f"saw the state of {earlier['inventory']}"
            yield f"{path}: {saw}; that of {inventory} replaces it"
            earlier = None
        with json_file.understood(str(path)):
            state, told = accepted(today, earlier, at)
    except json_file.Unreadable as reason:
        yield f"{reason}; a new one takes its place"
        state, told = accepted(today, None, at)
    json_file.write(path, state)
    yield from told
    there = sum(node.get("no_answer") is None for node in nodes(today))
    yield f"accepted: {there} of {len(nodes(today))} nodes, in {path}"


def accepted(
    today: Document, earlier: Document | None, at: datetime
) -> tuple[dict[str, Any], list[str]]:
    """The state to keep, and a line for every host that is not taken as it is today.

    Hosts outside an audit of a part of the inventory stay as they were; hosts that have left the
    inventory go.
    """
    before = {node["node"]: node for node in nodes(earlier or {})}
    kept: list[Document] = []
    told = []
    for node in nodes(today):
        name = node["node"]
        if node.get("no_answer") is None:
            kept.append({**node, "day": at.date().isoformat()})
        elif name in before:
            kept.append(before[name])
            told.append(f"{name}: no answer, its earlier accepted state stays")
        else:
            told.append(f"{name}: no answer and no earlier accepted state, nothing is accepted")
    there = {node["node"] for node in nodes(today)}
    if today.get("limited"):
        kept += [node for name, node in before.items() if name not in there]
    taken = {**today, "time": at.isoformat(timespec="seconds"), "nodes": kept}
    if not taken.get("inventory"):
        taken["inventory"] = (earlier or {}).get("inventory")
    return {**taken, "limited": False}, told
