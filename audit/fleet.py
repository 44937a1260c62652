"""One audit of an inventory by pyinfra in this process, started by audit/run_of_pyinfra.py.

Ends with 0 where the document was written, with 3 and the reasons on standard output where what was
asked for cannot be meant, with 2 where pyinfra ended otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import pyinfra
from pyinfra.api import Inventory, State
from pyinfra.api.exceptions import DeployError, PyinfraError
from pyinfra.api.output import set_echo, set_formatter
from pyinfra.context import ctx_state
from pyinfra_cli.cli import cli
from pyinfra_cli.inventory import make_inventory
from pyinfra_cli.util import parse_cli_arg

from audit.knobs import knobs
from audit.session import session

_ROOT = Path(__file__).resolve().parent.parent
_PR_SET_PDEATHSIG = 1
"""prctl(2), linux/prctl.h."""

_AUDIT = _ROOT / "deploys" / "audit.py"


def main() -> None:
    asked = _asked(sys.argv[1:])
    _end_with(asked.parent, asked.alarm)
    os.chdir(asked.chdir)
    _as_pyinfra_sets_up()
    reasons = _refusals(asked)
    if reasons:
        print("\n".join(reasons))
        sys.exit(3)
    sys.exit(_audit(asked))


def _end_with(parent: int, seconds: int) -> None:
    """Ends this run with the one who waits for it, where Linux tells; else by its own limit."""
    signal.alarm(seconds)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(2)


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m audit.fleet")
    parser.add_argument("inventory")
    parser.add_argument("--limit", action="append", default=[])
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--document", required=True)
    parser.add_argument("--chdir", required=True)
    parser.add_argument("--alarm", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    return parser.parse_args(words)


def _as_pyinfra_sets_up() -> None:
    """What pyinfra_cli.main.main does before its command (3.10.0)."""
    pyinfra.is_cli = True
    set_formatter(click.style)
    set_echo(click.echo)
    sys.dont_write_bytecode = True
    sys.path.append(".")


def _refusals(asked: argparse.Namespace) -> list[str]:
    """Every reason against the run, before any host is connected to; pyinfra itself ends with 0."""
    given = {name: parse_cli_arg(value) for name, value in _pairs(asked.data)}
    try:
        inventory = _inventory(asked.inventory, given)
    except SyntaxError as fault:
        place = f"{fault.filename}, line {fault.lineno}"
        return [f"inventory {place}: saw {fault.msg}, want Python"]
    except Exception as fault:  # noqa: BLE001 - an inventory is Python, and may do anything
        return [f"inventory {asked.inventory}: saw {_told(fault)}, want hosts"]
    if not len(inventory):
        return [_no_hosts(asked.inventory)]
    return [
        *_unmatched(asked.limit, inventory),
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
            group_data_directories=_installed_group_data(name),
        )
        return made
    finally:
        ctx_state.reset()


def _installed_group_data(inventory: str) -> list[str]:
    """The defaults of every knob, where neither the inventory nor this directory has its own."""
    own = (place / "group_data" / "all.py" for place in (Path.cwd(), Path(inventory).parent))
    return [] if any(file.exists() for file in own) else [str(_ROOT / "inventories/group_data")]


def _told(fault: Exception) -> str:
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
    """A knob that cannot be meant, once however many hosts have it."""
    told = set()
    for host in inventory:
        try:
            knobs(host)
        except DeployError as refusal:
            told.add(str(refusal))
    yield from sorted(told)


def _audit(asked: argparse.Namespace) -> int:
    document = Path(asked.document)
    # What the inventory says of these is about a run by hand; this one has a place of its own.
    words = [f"--data=report_html={document.with_name('audit.html')}"]
    words += [f"--data={pair}" for pair in asked.data]
    words += [f"--data=report_json={document}"]
    words += [f"--limit={limit}" for limit in asked.limit]
    words += [f"--group-data={place}" for place in _installed_group_data(asked.inventory)]
    try:
        cli.main([*words, "--dry", "-y", asked.inventory, str(_AUDIT)], standalone_mode=False)
    except SystemExit:
        pass
    except click.ClickException as told:
        inner = getattr(told, "exception", told)
        if isinstance(inner, DeployError):
            print(inner)
            return 3
        if not isinstance(inner, PyinfraError):
            print(f"pyinfra: saw {_told(inner)}, want a run to its end")
            traceback.print_exception(inner)
    return _end(document)


def _end(document: Path) -> int:
    """Writes the report where no host was reached: no deploy code has run then."""
    state = ctx_state.get()
    if not document.exists() and state and state.initialised:
        hosts = list(state.inventory)
        session(state, knobs(hosts[0])).report(state)
    return 0 if document.exists() else 2


if __name__ == "__main__":
    main()
