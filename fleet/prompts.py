"""What pyinfra asks while it runs, where nobody is there to answer.

Its own question then ends with a traceback, and a run whose hosts were all judged without a report.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pyinfra_cli.cli
import click
import pyinfra.connectors.util

_PASSWORDS = {
    "same_sudo_password": "sudo that asks this user for none, or host data _sudo_password",
    "ssh_password_prompt": "a key, or host data ssh_password",
}
_CHANGES_NOTHING = ("debug-inventory", "fact")
_ASKS_FIRST_WHEN_ONE_FAILS = "exec"


def unanswered_prompts(asked: Mapping[str, Any]) -> Iterator[str]:
    """The question that this run ends with and nobody answers; ``asked`` is the command line.

    .. code:: python

        "before it changes anything pyinfra asks for Enter: saw no terminal ... and no -y, want -y"
    """
    if unattended() and not _terminal():
        for option, want in _PASSWORDS.items():
            if asked[option]:
                yield f"--{option.replace('_', '-')}: saw no terminal to ask on, want {want}"
    if not asked["yes"] and _may_change(asked) and _asks_at_the_end(asked) and unattended():
        yield (
            "before it changes anything pyinfra asks for Enter: "
            "saw no terminal to ask on and no -y, want -y"
        )


def answer_prompts(asked: Mapping[str, Any]) -> None:
    """Answers for nobody what pyinfra asks when a host fails: a run that changes nothing goes on.

    With -y it asks that of nobody, and goes on. The password of a host's sudo it asks all the same.
    """
    if unattended() and not _terminal():
        pyinfra.connectors.util.getpass = _none
    if not asked["yes"] and unattended():
        goes_on = not _may_change(asked)
        # It has no hook between saying what to ask and connecting (pyinfra_cli/cli.py, 3.10.0).
        pyinfra_cli.cli._do_confirm = lambda msg: goes_on or _stopped(msg)


def _stopped(question: str) -> bool:
    click.echo(f"{question} saw no terminal to ask on and no -y, want -y to go on", err=True)
    return False


def _none(*_: object, **__: object) -> str:
    """No password: sudo then refuses once more, and that host alone fails, in sudo's own words."""
    return ""


def _terminal() -> bool:
    """Whether there is one beside standard input, which is where passwords are asked for."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _may_change(asked: Mapping[str, Any]) -> bool:
    looks = asked["dry"] or asked["debug_facts"] or asked["debug_operations"]
    return not (looks or asked["operations"][0] in _CHANGES_NOTHING)


def _asks_at_the_end(asked: Mapping[str, Any]) -> bool:
    return not asked["json_output"] and asked["operations"][0] != _ASKS_FIRST_WHEN_ONE_FAILS


def unattended() -> bool:
    """Whether standard input is no terminal and has nothing to read: cron, a timer, CI."""
    try:
        if sys.stdin.isatty():
            return False
        ready, _, _ = select.select([sys.stdin], [], [], 0)
        # What is there already (`echo | pyinfra ...`) stays there to be read.
        buffered: Any = sys.stdin.buffer
        return not (ready and buffered.peek(1))
    except (AttributeError, OSError, ValueError):
        # Closed: Python has none then, or a number that no longer is one.
        return True
