"""A host that is left alone: it fails with every reason, and no other host is held up."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation


@operation()
def none(reasons: Sequence[str]) -> Generator[StringCommand, None, None]:
    """
    Nothing speaks against changing this host; with a reason, the host fails and is left alone.

    + reasons: each a line with subject, saw, want and what to do instead

    **Example:**

    .. code:: python

        refusal.none(reasons=["kubelet: saw its pods run on this Docker, want both drivers alike"])
    """
    if not reasons:
        host.noop("nothing speaks against it")
        return
    # An exception here would end the run for every host (pyinfra 3.10, api/operations.py).
    yield StringCommand(
        "printf", QuoteString("refused: %s\\n"), *map(QuoteString, reasons), ">&2;", "exit", "1"
    )
