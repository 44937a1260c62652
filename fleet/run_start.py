"""The start of a run by pyinfra's own command, and its end where no host could be connected to."""

from __future__ import annotations

import atexit
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click
from pyinfra.api import Host, State
from pyinfra.api.exceptions import DeployError
from pyinfra.context import ctx_state

from pyinfra_nvml.fleet import prompts, run_inventory
from pyinfra_nvml.fleet.inventory_read import (
    inventory_faults,
    parse_data,
    read_inventory,
    selected_hosts,
)

_DEPLOYS = Path(__file__).resolve().parent.parent / "deploys"
_IN_GROUPS = frozenset({"fix_cgroup", "fix_driver", "restore"})
_SSH = ("ssh_user", "ssh_key", "ssh_key_password", "ssh_port", "ssh_password")
"""The options of pyinfra that stand for data (pyinfra_cli/cli.py, 3.10.0)."""


def begin_run(asked: Mapping[str, Any]) -> None:
    """Ends the run with 1 where there is a reason against it; ``asked`` is pyinfra's command line.

    Here and not in a deploy: of an inventory without hosts no deploy code runs, and pyinfra ends
    with 0. A scheduled run (drift/audit_in_process.py) has looked already, answers and reports
    itself.
    """
    if run_inventory.NAMED:
        return
    if reasons := list(dict.fromkeys(run_refusals(asked))):
        click.echo("\n".join(reasons), err=True)
        sys.exit(1)
    signal.signal(signal.SIGINT, _interrupted)
    prompts.answer_prompts(asked)
    if _own(asked["operations"]):
        atexit.register(_report_unreached)


def _own(operations: Sequence[str]) -> list[str]:
    """The names of the deploys of this checkout among what is to be run."""
    paths = [Path(name).resolve() for name in operations]
    return [path.stem for path in paths if path.parent == _DEPLOYS]


def _interrupted(number: int, _: FrameType | None) -> NoReturn:
    """Takes the place of pyinfra's own, which ends with 0 as if all were well (3.10.0, main.py)."""
    click.echo("stopped", err=True)
    sys.exit(128 + number)


def run_refusals(asked: Mapping[str, Any]) -> Iterator[str]:
    """Every reason against the run, in the order of the command line."""
    if unfit := [pair for pair in asked["data"] if "=" not in pair]:
        yield from (f"--data: saw {pair!r}, want SETTING=VALUE" for pair in unfit)
        return
    given = {**parse_data(asked["data"]), **{name: asked[name] for name in _SSH if asked[name]}}
    inventory = read_inventory(asked["inventory"], given, asked["group_data"] or ())
    if isinstance(inventory, str):
        yield inventory
        return
    limits, excluded = asked["limit"] or (), asked["exclude"] or ()
    yield from inventory_faults(inventory, limits, excluded)
    if readers := list(_readers(asked["operations"])):
        from pyinfra_nvml.fleet.wrong_settings import wrong_settings

        yield from wrong_settings(inventory, selected_hosts(inventory, limits, excluded), readers)
    yield from prompts.unanswered_prompts(asked)


def _readers(operations: Sequence[str]) -> Iterator[Callable[[Host], object]]:
    """What reads the settings of these deploys. Imported by them anyway, by no other command."""
    deploys = _own(operations)
    if deploys:
        from pyinfra_nvml.settings.reading import read_once

        yield read_once
    if _IN_GROUPS.intersection(deploys):
        from pyinfra_nvml.fleet.wrong_settings import canary

        yield canary
    if "schedule_drift" in deploys:
        from pyinfra_nvml.settings.schedule import read_schedule

        yield read_schedule
    if "mig_monitor" in deploys:
        from pyinfra_nvml.settings.mig_monitor import read_monitor

        yield read_monitor


def _report_unreached() -> None:
    """The report that says of each host why: without one that answers, no deploy code has run."""
    state = ctx_state.get()
    if not state or not _reached_nobody(state):
        return
    # Imported by the first deploy that runs, so not yet: half a second that no other run waits for.
    from pyinfra_nvml.fleet.session import session_of_run

    try:
        session_of_run(state).report(state)
    except DeployError as refusal:
        click.echo(refusal, err=True)


def _reached_nobody(state: State) -> bool:
    started = state.initialised and not state.callback_handlers
    return bool(started and state.failed_hosts and not state.activated_hosts)
