"""What the look after a change comes to: everything that is not as wanted, or that all of it is."""

from __future__ import annotations

from collections.abc import Sequence

from pyinfra import logger
from pyinfra.api import Host


def report_proof(host: Host, missed: Sequence[str], proven: str) -> bool:
    """Whether nothing was missed; says each thing that was, or what is proven."""
    for line in missed:
        host.log_styled(f"not proven: {line}", fg="red", log_func=logger.error)
    if not missed:
        host.log_styled(f"proven: {proven}", fg="green", log_func=logger.info)
    return not missed
