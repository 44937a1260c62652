"""The SSH transport of every inventory here."""

from __future__ import annotations

import socket
from typing import Any

import paramiko


def nodelay(sock: Any, **options: Any) -> paramiko.Transport:
    """A transport that sends small packets at once.

    paramiko leaves Nagle's algorithm on, which waits for the delayed acknowledgement of the
    packet before: 40 ms for every fact. A proxy command is no socket and needs nothing.
    """
    if isinstance(sock, socket.socket):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return paramiko.Transport(sock, **options)
