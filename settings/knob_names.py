"""The names that data on the command line may have; a misspelt knob is told the nearest."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from pyinfra.api import Inventory
from pyinfra.api.arguments import all_argument_meta
from pyinfra.api.connectors import get_all_connectors

_DEFAULTS = Path(__file__).resolve().parent.parent / "inventories" / "group_data" / "all.py"


def unknown_to(inventory: Inventory) -> tuple[str, ...]:
    """A refusal for each name on the command line that nobody reads.

    Known are the knobs, pyinfra's own names, and all that the inventory gives to any of its hosts.
    """
    names = {*every_knob(), *all_argument_meta, *given_by(inventory)}
    for connector in get_all_connectors().values():
        names.update(getattr(connector, "data_meta", ()))
    return tuple(f"{line} (--data)" for _, line in misspelt(inventory.override_data, names))


def given_by(inventory: Inventory) -> set[str]:
    """Every name that the inventory itself gives to a group or a host of its own."""
    names = set(inventory.data)
    for data in (*inventory.group_data.values(), *inventory.host_data.values()):
        names.update(data)
    return names


@cache
def every_knob() -> frozenset[str]:
    """Every knob of every deploy: the names to which the file of their defaults gives a value."""
    tree = ast.parse(_DEFAULTS.read_text(encoding="utf-8"))
    stores = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return frozenset(node.id for node in stores if isinstance(node.ctx, ast.Store))


def misspelt(given: Iterable[str], known: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Each name that is not known, with what was seen and what is wanted.

    .. code:: python

        (("audit_levl", "knob audit_levl: saw no such knob, want audit_level"),)
    """
    return tuple(
        (name, f"knob {name}: saw no such knob, want {_nearest(name, known)}")
        for name in given
        if name not in known
    )


def _nearest(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return near[0] if near else "one of inventories/group_data/all.py"
