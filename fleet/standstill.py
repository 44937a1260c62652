"""How long a node may stand still on a connection before it is given up."""

from __future__ import annotations

import threading

import paramiko
from typing_extensions import override

STANDSTILL_SECONDS = 60
"""Without a byte of a file, or without the exit status of a command that prints no more."""

LOGIN_SECONDS = 15
"""For all keys of a login together; inventories/group_data/all.py has the setting."""


def unfinished_start(version: str, seconds: float | None) -> paramiko.SSHException:
    """A start of SSH that is over without keys; sshd's ``version`` is its first line, if any."""
    what = "key exchange" if version else "protocol banner"
    return paramiko.SSHException(f"no {what} within {seconds or 0:g} s")


class LimitedEvent(threading.Event):
    """An event whose wait ends after some seconds where paramiko names no limit."""

    def __init__(self, seconds: float, what: str, before: threading.Event) -> None:
        super().__init__()
        self.seconds, self.what = seconds, what
        if before.is_set():
            self.set()

    @override
    def wait(self, timeout: float | None = None) -> bool:
        if super().wait(self.seconds if timeout is None else timeout):
            return True
        if timeout is None:
            raise paramiko.SSHException(f"no {self.what} within {self.seconds:g} s")
        return False


def limit_waits(channel: paramiko.Channel, answer: float) -> None:
    """Ends this channel's waits; ``answer`` is the seconds for sshd to take a command."""
    channel.event = LimitedEvent(answer, "answer of sshd", channel.event)
    channel.status_event = LimitedEvent(STANDSTILL_SECONDS, "exit status", channel.status_event)
    channel.settimeout(STANDSTILL_SECONDS)
