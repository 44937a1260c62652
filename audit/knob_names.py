"""The names that data on the command line may have; a misspelt knob is told the nearest."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from pyinfra.api import Inventory
from pyinfra.api.arguments import all_argument_meta
from pyinfra.api.connectors import get_all_connectors


def misspelt(given: Iterable[str], known: Collection[str]) -> list[str]:
    """A refusal for each name that nobody reads: what was seen, what is wanted."""
    return [
        f"knob {name}: saw no such knob, want {_nearest(name, known)}"
        for name in given
        if name not in known
    ]


def _nearest(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return near[0] if near else "one of inventories/group_data/all.py"


def known_to(inventory: Inventory) -> set[str]:
    """pyinfra's own names, and all that the inventory gives to any of its hosts."""
    names = set(all_argument_meta)
    for connector in get_all_connectors().values():
        names.update(getattr(connector, "data_meta", ()))
    names.update(inventory.data)
    for data in (*inventory.group_data.values(), *inventory.host_data.values()):
        names.update(data)
    return names
