"""The SSH transport of every inventory here."""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import gevent
import paramiko

from audit.connection_errors import heard
from audit.garbage import seldom

# Inventories are read before pyinfra connects: from here on its words about it are kept.
heard()
seldom()


class Patient(paramiko.Transport):
    """A transport that waits for its node instead of looking for news ten times a second.

    With 500 idle connections the looking alone is a third of a core. What hangs on it is how soon
    a keepalive is due and a new key exchanged: seconds do (paramiko 4.0.0, `Packetizer.read_all`).
    """

    _active_check_timeout = 2.0

    key_exchange = ""
    """The name of the last key exchange; paramiko forgets its engine once the keys are made."""

    def __init__(self, sock: Any, **options: Any) -> None:
        super().__init__(sock, **options)
        security = self.get_security_options()
        # AES-GCM first: one call in C a packet, where paramiko's own order means an HMAC in Python.
        security.ciphers = sorted(security.ciphers, key=lambda name: "-gcm@" not in name)

    def _parse_kex_init(self, message: paramiko.Message) -> None:
        super()._parse_kex_init(message)  # type: ignore[misc]
        # Only the engines of the DH groups have a name: those are the slow ones.
        self.key_exchange = getattr(self.kex_engine, "name", "")


def nodelay(sock: Any, **options: Any) -> paramiko.Transport:
    """A transport that sends small packets at once.

    paramiko leaves Nagle's algorithm on, which waits for the delayed acknowledgement of the
    packet before: 40 ms for every fact. A proxy command is no socket and needs nothing.
    """
    _load_meanwhile()
    if isinstance(sock, socket.socket):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Patient(sock, **options)


@cache
def _load_meanwhile() -> None:
    """Imports what judges the nodes while the first of them exchange their keys."""
    gevent.spawn(_load)


def _load() -> None:
    # What fails here fails again where the deploy imports it, and is told there.
    with suppress(Exception):
        import_module("audit.session")
