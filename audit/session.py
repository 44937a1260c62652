"""One run over an inventory: asks each host once, keeps its verdict, reports at the very end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timezone
from functools import wraps
from typing import Any

from pyinfra.api import Host, State
from pyinfra.api.state import BaseStateCallback
from rich.console import Console
from typing_extensions import override

from audit.document import document, write
from audit.knobs import Knobs
from audit.report import show
from audit.verdict import Verdict, unreached, verdict
from facts.node import Node, NodeState
from facts.unknown import Unknown


class Session(BaseStateCallback):
    """The verdicts of one pyinfra run.

    pyinfra 3.10 has no hook for the end of a run. ``host_disconnect`` is the last event of every
    host it connected to, in dry runs and after an abort too, so the report is written there, at
    the last of them.
    """

    def __init__(self, knobs: Knobs) -> None:
        self.knobs = knobs
        self.verdicts: dict[str, Verdict] = {}
        self.notes: list[str] = []
        self._left: set[str] = set()

    @override
    def host_disconnect(self, state: State, host: Host) -> None:  # type: ignore[override]
        self._left.add(host.name)
        if len(self._left) == len(state.activated_hosts):
            self.report(state)

    def ask(self, host: Host) -> Verdict:
        """The verdict of what this host says now, from a single exec."""
        count = _counted(host)
        # A fact that fails would drop the host from the run; the audit reports it instead.
        answer: NodeState | Unknown = host.get_fact(Node, _ignore_errors=True)
        judged = verdict(host.name, answer, execs=count())
        self.verdicts[host.name] = judged
        return judged

    def report(self, state: State) -> None:
        """Prints the report of every host of the inventory and writes the JSON document."""
        verdicts = [self._of(host, state) for host in state.inventory if self._meant(host, state)]
        console = Console(
            file=sys.stderr if "--json" in sys.argv else sys.stdout,
            width=None if sys.stdout.isatty() else 150,
            highlight=False,
        )
        console.print()
        show(verdicts, console)
        for note in self.notes:
            console.print(note, soft_wrap=True, markup=False)
        if self.knobs.report_json:
            write(self.knobs.report_json, document(verdicts, datetime.now(timezone.utc)))
            console.print(f"written: {self.knobs.report_json}", markup=False)

    def _of(self, host: Host, state: State) -> Verdict:
        if host.name in self.verdicts:
            return self.verdicts[host.name]
        if host in state.activated_hosts:
            return unreached(host.name, "the run ended before it was asked")
        return unreached(host.name, "could not be connected to")

    @staticmethod
    def _meant(host: Host, state: State) -> bool:
        """Whether the run is about this host (``--limit``)."""
        limit = state.limit_hosts
        return not limit or host in limit


def session(state: State, knobs: Knobs) -> Session:
    """The session of this run; the first host's deploy code opens it."""
    for handler in state.callback_handlers:
        if isinstance(handler, Session):
            return handler
    opened = Session(knobs)
    state.add_callback_handler(opened)
    return opened


def _counted(host: Host) -> Callable[[], int]:
    """Counts the commands sent to the host from here on."""
    sent = 0
    connector: Any = host.connector
    send = connector.run_shell_command

    @wraps(send)
    def counting(*args: Any, **arguments: Any) -> Any:
        nonlocal sent
        sent += 1
        return send(*args, **arguments)

    def count() -> int:
        connector.run_shell_command = send
        return sent

    connector.run_shell_command = counting
    return count
