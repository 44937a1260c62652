"""Reasons against a scheduled run before any host is connected to: its inventory, its knobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyinfra_nvml.fleet.inventory_read import (
    inventory_faults,
    parse_data,
    read_inventory,
    selected_hosts,
)
from pyinfra_nvml.fleet.wrong_knobs import wrong_knobs

_DEFAULTS = Path(__file__).resolve().parents[1] / "inventories" / "group_data"


def inventory_refusals(name: str, data: Sequence[str], limits: Sequence[str]) -> list[str]:
    """Every reason against the run of an inventory with ``--data`` and ``--limit``."""
    inventory = read_inventory(name, parse_data(data), group_data(name))
    if isinstance(inventory, str):
        return [inventory]
    return [
        *inventory_faults(inventory, limits),
        *wrong_knobs(inventory, selected_hosts(inventory, limits)),
    ]


def group_data(inventory: str) -> list[str]:
    """The defaults of every knob, where neither the inventory nor this directory has its own."""
    own = (place / "group_data" / "all.py" for place in (Path.cwd(), Path(inventory).parent))
    return [] if any(file.exists() for file in own) else [str(_DEFAULTS)]
