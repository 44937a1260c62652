"""An inventory as pyinfra is about to read it; pyinfra itself ends with 0 for one without hosts.

It ignores an inventory that is not there, a limit or an exclusion that matches nothing, a setting
that is misspelt.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from pyinfra.api import Host, Inventory, State
from pyinfra.api.exceptions import InventoryError
from pyinfra.context import ctx_state
from pyinfra_cli.inventory import make_inventory
from pyinfra_cli.util import parse_cli_arg

from pyinfra_nvml.settings.names import unknown_to


def read_inventory(
    name: str, given: Mapping[str, Any], group_data: Sequence[str]
) -> Inventory | str:
    """The inventory of this name with the data of a command line, or why it cannot be used.

    .. code:: python

        "inventory fleet.py, line 3: saw '[' was never closed, want Python"
    """
    try:
        inventory = _made(name, given, group_data)
    except SyntaxError as fault:
        return f"inventory {fault.filename}, line {fault.lineno}: saw {fault.msg}, want Python"
    except InventoryError as refusal:
        return f"inventory {name}: {refusal}"
    except OSError as fault:
        return f"inventory {name or repr(name)}: saw {fault.strerror or fault}, want hosts"
    except Exception as fault:  # noqa: BLE001 - an inventory is Python, and may do anything
        return f"inventory {name}{_line(fault, name)}: saw {describe_fault(fault)}, want hosts"
    return inventory if len(inventory) else _no_hosts(name)


def parse_data(data: Sequence[str]) -> dict[str, Any]:
    """What ``--data SETTING=VALUE`` gives to every host, read as pyinfra reads it."""
    pairs = (pair.partition("=") for pair in data)
    return {name: parse_cli_arg(value) for name, _, value in pairs}


def inventory_faults(
    inventory: Inventory, limits: Sequence[str], excluded: Sequence[str] = ()
) -> Iterator[str]:
    """Reasons against a run of it: limits that match nothing, unknown names, unusable keys."""
    for word, patterns in (("limit", limits), ("exclude", excluded)):
        for pattern in patterns:
            if not _matched(inventory, [pattern]):
                yield f"{word} {pattern}: saw no such host or group, want one of this inventory"
    if excluded and (_matched(inventory, limits or ["*"]) <= _matched(inventory, excluded)):
        yield f"exclude {' '.join(excluded)}: saw every host of the run excluded, want one left"
    yield from unknown_to(inventory)
    yield from _unfit_keys(inventory)


def _matched(inventory: Inventory, patterns: Sequence[str]) -> set[str]:
    """Names of the hosts that these name, by host or by group (pyinfra_cli/cli.py, 3.10.0)."""
    named: set[str] = set()
    for pattern in patterns:
        if pattern in inventory.groups:
            named |= {host.name for host in inventory.groups[pattern]}
        else:
            named |= {host.name for host in inventory if fnmatch(host.name, pattern)}
    return named


def selected_hosts(
    inventory: Inventory, limits: Sequence[str], excluded: Sequence[str] = ()
) -> list[Host]:
    """The hosts of a run with these limits."""
    names = _matched(inventory, limits or ["*"]) - _matched(inventory, excluded)
    return [host for host in inventory if host.name in names]


def _made(name: str, given: Mapping[str, Any], group_data: Sequence[str]) -> Inventory:
    # Inventories run within a state, which names the file being run (pyinfra_cli/util.py).
    with ctx_state.use(State()), _without_warnings():
        made: Inventory = make_inventory(
            name,
            override_data=dict(given),
            cwd=str(Path.cwd()),
            group_data_directories=list(group_data),
        )
    return made


@contextmanager
def _without_warnings() -> Iterator[None]:
    """pyinfra's own reading warns again; where there is none, the refusal says it."""
    log = logging.getLogger("pyinfra")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def describe_fault(fault: Exception) -> str:
    """What went wrong, without pyinfra's wrapping."""
    inner = getattr(fault, "exception", fault)
    return f"{type(inner).__name__}: {inner}"


def _line(fault: Exception, name: str) -> str:
    inner = getattr(fault, "exception", fault)
    frames = traceback.extract_tb(getattr(inner, "_traceback", None))
    lines = [frame.lineno for frame in frames if frame.filename == name]
    return f", line {lines[-1]}" if lines else ""


def _no_hosts(name: str) -> str:
    if Path(name).exists():
        return f"inventory {name}: saw no hosts in it, want a list of hosts"
    return f"inventory {name}: saw no such file or host, want a file, @local or host names"


def _unfit_keys(inventory: Inventory) -> Iterator[str]:
    """pyinfra ends the whole run with a traceback for a key that it cannot read (3.10.0)."""
    for key in dict.fromkeys(host.data.get("ssh_key") for host in inventory):
        if key and (seen := _instead_of_a_key(str(key))):
            yield f"ssh_key {key}: saw {seen}, want the file of a private key"


def _instead_of_a_key(path: str) -> str:
    try:
        # A path from here, as paramiko's is; `~` is the home of who runs this.
        start = Path(path).expanduser().read_bytes()[:2000]
    except (OSError, RuntimeError) as fault:
        return getattr(fault, "strerror", None) or str(fault)
    if start.startswith((b"ssh-", b"ecdsa-", b"sk-")):
        return "a public key"
    return "" if b"PRIVATE KEY-----" in start else "no private key in it"
