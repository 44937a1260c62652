"""Which inventory results are of: its file by its whole path, or what stands in place of a file."""

from __future__ import annotations

import os


def inventory_name(given: str) -> str:
    """The inventory as results keep it: ``@local`` and names of hosts stay as they are.

    .. code:: python

        inventory_name("inventories/example.py")  # "/home/kim/fleet/inventories/example.py"
        inventory_name("@local")  # "@local"
    """
    if given.startswith("@") or not _file(given):
        return given
    return os.path.abspath(given)  # noqa: PTH100 - Path.absolute keeps the ".." of a path


def other_inventory(kept: object, given: str) -> str | None:
    """Why results are not of this inventory, or ``None``; results that name none are taken."""
    wanted = inventory_name(given)
    if same_inventory(kept, wanted):
        return None
    do = "name that one, or give this one a --results of its own"
    return f"the last results are of {kept}, want those of {wanted}: {do}"


def same_inventory(kept: object, wanted: str | None) -> bool:
    """Whether both are one inventory; one that is not named may be any."""
    if not isinstance(kept, str) or wanted is None:
        return True
    return os.path.realpath(kept) == os.path.realpath(wanted)


def _file(given: str) -> bool:
    """Whether a file is meant, though none be there: a misspelt one, or one that has gone."""
    return "/" in given or given.endswith(".py") or os.path.exists(given)  # noqa: PTH110
