"""A host that is left alone: it fails with every reason, and no other host is held up."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from pyinfra import logger
from pyinfra.api import Host, State
from pyinfra.api.command import FunctionCommand
from pyinfra.api.operation import operation
from pyinfra.context import host


@operation()
def preconditions(reasons: Sequence[str]) -> Generator[FunctionCommand, None, None]:
    """
    No reason is against changing this host; with one, the host fails and is left alone.

    + reasons: each a line with subject, saw, want and what to do instead

    **Example:**

    .. code:: python

        refusal.preconditions(reasons=["kubelet: saw other cgroup drivers, want both alike"])
    """
    if reasons:
        yield FunctionCommand(fail_host, (reasons,), {})
    else:
        host.noop("no reason is against it")


def fail_host(state: State, host: Host, reasons: Sequence[str]) -> bool:  # noqa: ARG001 - pyinfra's
    """Fails the host without a word to it: one that gave no answer would cost its limit again."""
    for reason in reasons:
        host.log_styled(f"refused: {reason}", fg="red", log_func=logger.error)
    return False
