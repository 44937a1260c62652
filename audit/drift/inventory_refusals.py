"""What speaks against a scheduled run before any host is connected to: its inventory, its knobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pyinfra.api import Inventory
from pyinfra.api.exceptions import DeployError

from audit.inventory_read import against, read, said
from audit.knobs import knobs

_DEFAULTS = Path(__file__).resolve().parents[2] / "inventories" / "group_data"


def refusals(name: str, data: Sequence[str], limits: Sequence[str]) -> list[str]:
    """Every reason against the run of an inventory with ``--data`` and ``--limit``."""
    inventory = read(name, said(data), group_data(name))
    if isinstance(inventory, str):
        return [inventory]
    reasons = [*against(inventory, limits), *_unmeant(inventory)]
    return list(dict.fromkeys("\n".join(reasons).splitlines()))


def group_data(inventory: str) -> list[str]:
    """The defaults of every knob, where neither the inventory nor this directory has its own."""
    own = (place / "group_data" / "all.py" for place in (Path.cwd(), Path(inventory).parent))
    return [] if any(file.exists() for file in own) else [str(_DEFAULTS)]


def _unmeant(inventory: Inventory) -> Iterator[str]:
    """A knob that cannot be meant, once however many hosts have it; whose, where not all have."""
    found: dict[str, list[str]] = {}
    for host in inventory:
        try:
            knobs(host)
        except DeployError as refusal:
            found.setdefault(str(refusal), []).append(host.name)
    for refused, names in sorted(found.items()):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield refused if len(names) == len(inventory) else f"{refused} ({names[0]}{more})"
