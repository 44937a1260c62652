"""A host that is left alone: it fails with every reason, and no other host is held up."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host

from operations import node


@operation()
def none(reasons: Sequence[str]) -> Generator[StringCommand, None, None]:
    """
    Nothing speaks against changing this host; with a reason, the host fails and is left alone.

    + reasons: each a line with subject, saw, want and what to do instead

    **Example:**

    .. code:: python

        refusal.none(reasons=["kubelet: saw its pods run on this Docker, want both drivers alike"])
    """
    if reasons:
        yield node.refuse(*(f"refused: {reason}" for reason in reasons))
    else:
        host.noop("nothing speaks against it")
