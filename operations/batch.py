"""The gate before each group of a fleet: those before it went well, or it is not touched."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.api.state import StateStage
from pyinfra.context import host, state

from pyinfra_nvml.fleet.session import Session, session
from pyinfra_nvml.operations import node
from pyinfra_nvml.settings.reading import read_settings


@operation()
def gate(number: int) -> Generator[StringCommand, None, None]:
    """
    The groups before this one went well; otherwise its hosts fail here, and nothing is changed.

    + number: the group's number in the session's order, from 0

    **Example:**

    .. code:: python

        batch.gate(name="Before batch 2 of 3", number=2)
    """
    run = session(state, read_settings(host))
    # Before anything ran there is nothing to look at: a gate speaks when its turn has come.
    now = state.current_stage is StateStage.Execute
    reason = run.halt_reason(state, number) if now else None
    if reason is None or run.order(state).place(host.name) < number:
        host.noop("the groups before it went well")
        return
    run.untouched[host.name] = reason
    yield node.refuse(f"not touched: {reason}")


@operation()
def end() -> Generator[StringCommand, None, None]:
    """
    This host is through with all its steps: the groups behind it may begin.

    **Example:**

    .. code:: python

        batch.end(name="canary: through")
    """
    if state.current_stage is StateStage.Execute:
        session(state, read_settings(host)).done.add(host.name)
    host.noop("all its steps are done")
    yield from ()


def batches(run: Session) -> Iterator[str]:
    """The title of this host's group, once its turn has come: what stands in the loop is done then.

    The gates of a host's own group and of the next tie it into the order of the groups: pyinfra
    runs an operation on all hosts that have it, and sorts operations by the hosts' own orders.
    """
    order = run.order(state)
    mine = order.place(host.name)
    for number in host.loop(range(len(order.groups))):
        if number in (mine, mine + 1):
            gate(name=f"{order.title(number)}: look at the groups before it", number=number)
        if number == mine:
            yield order.title(number)
            end(name=f"{order.title(number)}: through")
