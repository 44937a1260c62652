"""The gate before each group of a fleet: those before it went well, or it is not touched."""

from __future__ import annotations

from collections.abc import Generator

from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host, state

from audit.knobs import knobs
from audit.session import session
from operations import node


@operation()
def gate(number: int) -> Generator[StringCommand, None, None]:
    """
    The groups before this one went well; otherwise its hosts fail here, and nothing is changed.

    + number: the group's number in the session's order, from 0

    **Example:**

    .. code:: python

        batch.gate(name="Before batch 2 of 3", number=2)
    """
    run = session(state, knobs(host))
    reason = run.obstacle(state, number)
    if reason is None or run.order(state).place(host.name) < number:
        host.noop("the groups before it went well")
        return
    run.untouched[host.name] = reason
    yield node.refuse(f"not touched: {reason}")
