"""A connection without a network."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends: ours, and that of a node made up by the test."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs
