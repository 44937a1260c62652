"""Nodes that let a run in and then stand still hold it up for a limit, and no longer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import paramiko
import pytest
from typing_extensions import override

from pyinfra_nvml.fleet import standstill
from pyinfra_nvml.fleet.transport import PollingTransport


class Still(paramiko.ServerInterface):
    """A node that lets everybody in, and then stands still at one place."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.over = threading.Event()

    @override
    def check_auth_none(self, username: str) -> int:
        return paramiko.AUTH_SUCCESSFUL  # type: ignore[attr-defined, no-any-return]

    @override
    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED  # type: ignore[attr-defined, no-any-return]

    @override
    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        return self.at != "exec" or not self.over.wait(30)

    @override
    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        return True


@contextmanager
def standing_still(
    pair: tuple[socket.socket, socket.socket], at: str
) -> Iterator[tuple[PollingTransport, paramiko.Transport]]:
    ours, theirs = pair
    server, client, node = paramiko.Transport(theirs), PollingTransport(ours), Still(at)
    server.add_server_key(paramiko.ECDSAKey.generate())
    server.start_server(threading.Event(), node)
    client.start_client(timeout=10)
    client.auth_none("root")
    client.channel_timeout = 1
    try:
        yield client, server
    finally:
        node.over.set()
        client.close()
        server.close()


def test_a_node_that_takes_no_command_is_given_up(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    with standing_still(pair, "exec") as (client, _):
        channel = client.open_session()
        with pytest.raises(paramiko.SSHException, match="no answer of sshd within 1 s"):
            channel.exec_command("true")


def test_a_command_without_an_exit_status_is_given_up(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standstill, "STANDSTILL_SECONDS", 1)
    with standing_still(pair, "end") as (client, server):
        channel = client.open_session()
        channel.exec_command("true")
        theirs = server.accept(5)
        assert theirs is not None
        theirs.sendall(b"all of it")
        theirs.shutdown_write()
        assert channel.makefile().read() == b"all of it"
        with pytest.raises(paramiko.SSHException, match="no exit status within 1 s"):
            channel.recv_exit_status()


def test_a_command_that_ends_is_not(pair: tuple[socket.socket, socket.socket]) -> None:
    with standing_still(pair, "nowhere") as (client, server):
        channel = client.open_session()
        channel.exec_command("true")
        theirs = server.accept(5)
        assert theirs is not None
        theirs.send_exit_status(3)
        theirs.close()
        assert channel.recv_exit_status() == 3


def test_files_of_a_node_that_stands_still_are_given_up(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standstill, "STANDSTILL_SECONDS", 1)
    with standing_still(pair, "files") as (client, _), pytest.raises(TimeoutError):
        paramiko.SFTPClient.from_transport(client)
