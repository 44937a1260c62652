"""What every SSH connection of a fleet is made with."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator

import paramiko
import pytest

from audit.garbage import seldom
from inventories.transport import Patient, nodelay


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


class Anybody(paramiko.ServerInterface):
    pass


def agreed(pair: tuple[socket.socket, socket.socket], *without: str) -> Patient:
    """A transport after its key exchange with a server that lacks these ciphers."""
    ours, theirs = pair
    disabled = {"ciphers": list(without)}
    server = paramiko.Transport(theirs, disabled_algorithms=disabled)
    server.add_server_key(paramiko.ECDSAKey.generate())
    client = Patient(ours)
    started = threading.Event()
    server.start_server(started, Anybody())
    client.start_client(timeout=10)
    try:
        assert started.wait(10)
        return client
    finally:
        client.close()
        server.close()


def cipher(client: Patient) -> object:
    return vars(client)["remote_cipher"]


def test_aes_gcm_where_the_node_has_it(pair: tuple[socket.socket, socket.socket]) -> None:
    assert cipher(agreed(pair)) == "aes128-gcm@openssh.com"


def test_another_cipher_where_it_has_not(pair: tuple[socket.socket, socket.socket]) -> None:
    client = agreed(pair, "aes128-gcm@openssh.com", "aes256-gcm@openssh.com")
    assert cipher(client) == "aes128-ctr"


def test_no_cipher_of_paramikos_is_lost() -> None:
    ours = Patient._preferred_ciphers
    assert sorted(ours) == sorted(paramiko.Transport._preferred_ciphers)  # type: ignore[attr-defined]


def test_a_slow_key_exchange_keeps_its_name(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    client = Patient(ours, disabled_algorithms={"kex": _fast()})
    server = paramiko.Transport(theirs)
    server.add_server_key(paramiko.ECDSAKey.generate())
    server.start_server(threading.Event(), Anybody())
    client.start_client(timeout=30)
    client.close()
    server.close()
    assert client.key_exchange == "diffie-hellman-group16-sha512"


def _fast() -> list[str]:
    every: tuple[str, ...] = paramiko.Transport._preferred_kex  # type: ignore[attr-defined]
    return [name for name in every if not name.startswith("diffie-hellman-group16")]


def test_small_packets_leave_at_once() -> None:
    with socket.socket() as sock:
        transport = nodelay(sock)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport.close()


def test_garbage_is_looked_for_seldom_but_still() -> None:
    before = gc.get_threshold()
    try:
        seldom()
        assert gc.isenabled()
        assert 700 < gc.get_threshold()[0] < 1_000_000
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
