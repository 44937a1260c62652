"""How many commands a host is sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pyinfra.api import Host


def count_commands(host: Host) -> Callable[[], int]:
    """Counts the commands sent to the host from here on, until the count is asked for."""
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
