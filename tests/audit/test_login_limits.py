"""Nodes that stand still before or during the login are given up, each stage with its own words."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import paramiko
import pytest
from pyinfra.connectors.sshuserclient import SSHClient
from typing_extensions import override

from inventories.group_data import all as defaults
from pyinfra_nvml.fleet.standstill import LOGIN_SECONDS
from pyinfra_nvml.fleet.transport import PollingTransport
from tests.audit.test_transport import OldKey

Pair = tuple[socket.socket, socket.socket]


class Hung(paramiko.ServerInterface):
    """A node whose PAM does not answer, or late, or whose sshd opens no channel."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.over = threading.Event()

    @override
    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    @override
    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        if self.at == "login":
            self.over.wait(30)
        if self.at == "each key":
            self.over.wait(0.4)
            return paramiko.AUTH_FAILED  # type: ignore[attr-defined, no-any-return]
        return paramiko.AUTH_SUCCESSFUL  # type: ignore[attr-defined, no-any-return]

    @override
    def check_channel_request(self, kind: str, chanid: int) -> int:
        self.over.wait(30)
        return paramiko.OPEN_SUCCEEDED  # type: ignore[attr-defined, no-any-return]


def connect(
    sock: socket.socket, keys: list[Path], seconds: float = 10, **limits: float
) -> SSHClient:
    """As pyinfra does it, to a node whose key nobody knows."""
    client = SSHClient()
    client.connect(
        "node",
        sock=sock,
        username="root",
        key_filename=[str(key) for key in keys],
        timeout=seconds,
        _pyinfra_ssh_config_file="none",
        _pyinfra_ssh_known_hosts_file="none",
        _pyinfra_ssh_strict_host_key_checking="no",
        _pyinfra_ssh_paramiko_connect_kwargs={"transport_factory": PollingTransport, **limits},
    )
    return client


@contextmanager
def hung(sock: socket.socket, at: str) -> Iterator[None]:
    node, server = Hung(at), paramiko.Transport(sock)
    server.add_server_key(paramiko.ECDSAKey.generate())
    server.start_server(threading.Event(), node)
    try:
        yield
    finally:
        node.over.set()
        server.close()


@pytest.fixture
def keys(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"id_{number}" for number in range(5)]
    for path in paths:
        paramiko.ECDSAKey.generate().write_private_key_file(str(path))
    return paths


@pytest.mark.parametrize(
    ("said", "missing"),
    [(b"", "protocol banner"), (b"SSH-2.0-OpenSSH_9.2\r\n", "key exchange")],
)
def test_an_sshd_that_does_not_speak(pair: Pair, said: bytes, missing: str) -> None:
    ours, theirs = pair
    theirs.sendall(said)
    with pytest.raises(paramiko.SSHException, match=rf"^no {missing} within 0.3 s$"):
        connect(ours, [], seconds=0.3)


@pytest.mark.parametrize("at", ["login", "each key"])
def test_a_login_has_one_limit_for_all_keys(pair: Pair, keys: list[Path], at: str) -> None:
    ours, theirs = pair
    with hung(theirs, at):
        start = time.monotonic()
        with pytest.raises(TimeoutError, match=r"^no end of the login within 1 s$"):
            connect(ours, keys, auth_timeout=1)
        assert 1 <= time.monotonic() - start < 2.5


def test_a_channel_that_is_not_opened(pair: Pair, keys: list[Path]) -> None:
    ours, theirs = pair
    with hung(theirs, "channel"):
        client = connect(ours, keys, channel_timeout=0.5)
        with pytest.raises(paramiko.SSHException, match="Timeout opening channel"):
            client.exec_command("true")
        client.close()


def test_the_limit_of_the_inventory_is_that_of_a_hop() -> None:
    assert defaults.ssh_paramiko_connect_kwargs["auth_timeout"] == LOGIN_SECONDS


def test_a_hop_is_connected_to_as_the_node_is(tmp_path: Path) -> None:
    """ProxyJump: a bastion that signs with SHA-1 is refused as a node is."""
    config = tmp_path / "config"
    with socket.create_server(("127.0.0.1", 0)) as bastion:
        config.write_text(f"Host node\n  ProxyJump 127.0.0.1:{bastion.getsockname()[1]}\n")
        answering = threading.Thread(target=_answer, args=(bastion,), daemon=True)
        answering.start()
        with pytest.raises(paramiko.SSHException, match="host key: saw a signature with SHA-1"):
            SSHClient().connect("node", _pyinfra_ssh_config_file=str(config), timeout=10)
        answering.join(10)


def _answer(bastion: socket.socket) -> None:
    sock, _ = bastion.accept()
    server = paramiko.Transport(sock)
    server.add_server_key(OldKey(key=paramiko.RSAKey.generate(2048).key))
    # The other side leaves before the end.
    with suppress(paramiko.SSHException, EOFError, OSError):
        server.start_server(server=paramiko.ServerInterface())
