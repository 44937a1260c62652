"""What speaks against a run before any host is connected to; pyinfra itself ends with 0 for most.

It ignores an inventory that is not there, a limit that matches nothing, a knob that is misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from pyinfra.api import Inventory, State
from pyinfra.api.exceptions import DeployError, InventoryError
from pyinfra.context import ctx_state
from pyinfra_cli.inventory import make_inventory
from pyinfra_cli.util import parse_cli_arg

from audit.knobs import knobs

_DEFAULTS = Path(__file__).resolve().parents[2] / "inventories" / "group_data"


def refusals(name: str, data: Sequence[str], limits: Sequence[str]) -> list[str]:
    """Every reason against the run of an inventory with ``--data`` and ``--limit``."""
    given = {knob: parse_cli_arg(value) for knob, value in _pairs(data)}
    try:
        inventory = _inventory(name, given)
    except SyntaxError as fault:
        place = f"{fault.filename}, line {fault.lineno}"
        return [f"inventory {place}: saw {fault.msg}, want Python"]
    except InventoryError as refusal:
        return [f"inventory {name}: {refusal}"]
    except OSError as fault:
        return [f"inventory {name or repr(name)}: saw {fault.strerror or fault}, want hosts"]
    except Exception as fault:  # noqa: BLE001 - an inventory is Python, and may do anything
        return [f"inventory {name}: saw {told(fault)}, want hosts"]
    if not len(inventory):
        return [_no_hosts(name)]
    return [
        *_unmatched(limits, inventory),
        *_unmeant(inventory),
    ]


def _pairs(data: Sequence[str]) -> Iterator[tuple[str, str]]:
    for pair in data:
        name, _, value = pair.partition("=")
        yield name, value


def _inventory(name: str, given: dict[str, Any]) -> Inventory:
    # Inventories run within a state, which names the file being run (pyinfra_cli/util.py).
    ctx_state.set(State())
    try:
        made: Inventory = make_inventory(
            name,
            override_data=given,
            cwd=str(Path.cwd()),
            group_data_directories=group_data(name),
        )
        return made
    finally:
        ctx_state.reset()


def group_data(inventory: str) -> list[str]:
    """The defaults of every knob, where neither the inventory nor this directory has its own."""
    own = (place / "group_data" / "all.py" for place in (Path.cwd(), Path(inventory).parent))
    return [] if any(file.exists() for file in own) else [str(_DEFAULTS)]


def told(fault: Exception) -> str:
    """What went wrong, without pyinfra's wrapping."""
    inner = getattr(fault, "exception", fault)
    return f"{type(inner).__name__}: {inner}"


def _no_hosts(inventory: str) -> str:
    if Path(inventory).exists():
        return f"inventory {inventory}: saw no hosts in it, want a list of hosts"
    return f"inventory {inventory}: saw no such file or host, want a file, @local or host names"


def _unmatched(limits: Sequence[str], inventory: Inventory) -> Iterator[str]:
    for limit in limits:
        names = [host.name for host in inventory]
        if limit not in inventory.groups and not any(fnmatch(name, limit) for name in names):
            yield f"limit {limit}: saw no such host or group, want one of this inventory"


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
