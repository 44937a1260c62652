"""One audit of an inventory by pyinfra in this process, started by drift/audit_process.py.

Ends with 0 where the document was written, with 4 where it was and another report was not, with 2
where it was not (the reason is the last line of standard output), with 3 and the reasons there
where what was asked for makes no sense.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import pyinfra_cli.cli
import click
import pyinfra
from pyinfra.api.exceptions import DeployError, PyinfraError
from pyinfra.api.output import set_echo, set_formatter
from pyinfra.context import ctx_state

from pyinfra_nvml.drift.audit_process import NOT_ALL_WRITTEN
from pyinfra_nvml.fleet import run_inventory
from pyinfra_nvml.fleet.inventory_read import (
    describe_fault,
    inventory_faults,
    parse_data,
    read_inventory,
    selected_hosts,
)
from pyinfra_nvml.fleet.session import session_of_run
from pyinfra_nvml.fleet.wrong_settings import wrong_settings

_ROOT = Path(__file__).resolve().parents[1]
_PR_SET_PDEATHSIG = 1
"""prctl(2), linux/prctl.h."""

_AUDIT = _ROOT / "deploys" / "audit.py"
_DEFAULTS = _ROOT / "inventories" / "group_data"


def main() -> None:
    """The run; ends the process with one of the codes above."""
    asked = _asked(sys.argv[1:])
    _end_with(asked.parent, asked.alarm)
    try:
        os.chdir(asked.chdir)
    except OSError as fault:
        print(f"directory {asked.chdir}: saw {fault.strerror}, want one that this user may enter")
        sys.exit(3)
    _as_pyinfra_sets_up()
    reasons = _refusals(asked.inventory, asked.data, asked.limit)
    if reasons:
        print("\n".join(reasons))
        sys.exit(3)
    run_inventory.set_inventory(asked.inventory)
    sys.exit(_audit(asked))


def _end_with(parent: int, seconds: int) -> None:
    """Ends this run with the process that waits for it (on Linux), else by its own limit."""
    signal.alarm(seconds)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(2)


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pyinfra_nvml.drift.audit_in_process")
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


def _refusals(name: str, data: Sequence[str], limits: Sequence[str]) -> list[str]:
    """Every reason against the run of an inventory with ``--data`` and ``--limit``."""
    inventory = read_inventory(name, parse_data(data), _group_data(name))
    if isinstance(inventory, str):
        return [inventory]
    return [
        *inventory_faults(inventory, limits),
        *wrong_settings(inventory, selected_hosts(inventory, limits)),
    ]


def _group_data(inventory: str) -> list[str]:
    """The defaults of every setting, where neither the inventory nor this directory has its own."""
    own = (place / "group_data" / "all.py" for place in (Path.cwd(), Path(inventory).parent))
    return [] if any(file.exists() for file in own) else [str(_DEFAULTS)]


def _audit(asked: argparse.Namespace) -> int:
    document = Path(asked.document)
    # What the inventory says of these is about a run by hand; this one has a place of its own.
    words = [f"--data=report_html={document.with_name('audit.html')}"]
    words += [f"--data={pair}" for pair in asked.data]
    words += [f"--data=report_json={document}"]
    words += [f"--limit={limit}" for limit in asked.limit]
    words += [f"--group-data={place}" for place in _group_data(asked.inventory)]
    reason = ""
    try:
        pyinfra_cli.cli.cli.main(
            [*words, "--dry", "-y", asked.inventory, str(_AUDIT)], standalone_mode=False
        )
    except SystemExit:
        pass
    except click.ClickException as fault:
        inner = getattr(fault, "exception", fault)
        if isinstance(inner, DeployError):
            print(inner)
            return 3
        if not isinstance(inner, PyinfraError):
            reason = f"pyinfra: saw {describe_fault(inner)}, want a run to its end"
            traceback.print_exception(inner)
    lost = _reported()
    if last := f"could not write: {'; '.join(lost)}" if lost else reason:
        print(last)
    if not document.exists():
        return 2
    return NOT_ALL_WRITTEN if lost else 0


def _reported() -> Sequence[str]:
    """What could not be written; where no host was reached, no deploy code has reported yet."""
    state = ctx_state.get()
    if not state or not state.initialised:
        return ()
    session = session_of_run(state)
    if not session.reported:
        session.report(state)
    return session.lost


if __name__ == "__main__":
    main()
