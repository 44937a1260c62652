"""What every SSH connection of a fleet is made with."""

from __future__ import annotations

import socket
import threading

import gevent
import paramiko
import pytest
from typing_extensions import override

from pyinfra_nvml.fleet import transport
from pyinfra_nvml.fleet.transport import PollingTransport, nodelay


class Anybody(paramiko.ServerInterface):
    pass


def agreed(pair: tuple[socket.socket, socket.socket], *without: str) -> PollingTransport:
    """A transport after its key exchange with a server that lacks these ciphers."""
    ours, theirs = pair
    disabled = {"ciphers": list(without)}
    server = paramiko.Transport(theirs, disabled_algorithms=disabled)
    server.add_server_key(paramiko.ECDSAKey.generate())
    client = PollingTransport(ours)
    started = threading.Event()
    server.start_server(started, Anybody())
    client.start_client(timeout=10)
    try:
        assert started.wait(10)
        return client
    finally:
        client.close()
        server.close()


def cipher(client: PollingTransport) -> object:
    return vars(client)["remote_cipher"]


def test_aes_gcm_where_the_node_has_it(pair: tuple[socket.socket, socket.socket]) -> None:
    assert cipher(agreed(pair)) == "aes128-gcm@openssh.com"


def test_another_cipher_where_it_has_not(pair: tuple[socket.socket, socket.socket]) -> None:
    client = agreed(pair, "aes128-gcm@openssh.com", "aes256-gcm@openssh.com")
    assert cipher(client) == "aes128-ctr"


def test_no_cipher_of_paramikos_is_lost(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = (
        kind(each) for kind, each in zip((PollingTransport, paramiko.Transport), pair, strict=True)
    )
    wanted, usual = (each.get_security_options().ciphers for each in (ours, theirs))
    assert sorted(wanted) == sorted(usual)
    assert [name for name in wanted if "gcm" not in name] == [
        name for name in usual if "gcm" not in name
    ]


def test_a_slow_key_exchange_keeps_its_name(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    client = PollingTransport(ours, disabled_algorithms={"kex": _fast()})
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


class OldKey(paramiko.RSAKey):
    """A node's RSA key that signs with SHA-1, whatever was agreed on."""

    @override
    def sign_ssh_data(self, data: bytes, algorithm: str | None = None) -> paramiko.Message:
        return super().sign_ssh_data(data, "ssh-rsa")


def meets(
    pair: tuple[socket.socket, socket.socket],
    key: paramiko.RSAKey,
    known: str = "ssh-ed25519",
    without: tuple[str, ...] = (),
) -> str:
    """The host key's algorithm agreed on with a node that has an RSA key, and one of ECDSA."""
    ours, theirs = pair
    server = paramiko.Transport(theirs, disabled_algorithms={"keys": list(without)})
    for each in (key, paramiko.ECDSAKey.generate()):
        server.add_server_key(each)
    client = PollingTransport(ours)
    # As paramiko's client does it for what known_hosts has (4.0.0, `SSHClient.connect`).
    options = client.get_security_options()
    options.key_types = [known, *(name for name in options.key_types if name != known)]
    server.start_server(threading.Event(), Anybody())
    try:
        client.start_client(timeout=30)
        return str(vars(client)["host_key_type"])
    finally:
        client.close()
        server.close()


def test_a_known_rsa_key_is_asked_for_with_sha2(pair: tuple[socket.socket, socket.socket]) -> None:
    assert meets(pair, paramiko.RSAKey.generate(2048), "ssh-rsa") == "rsa-sha2-512"


def test_no_host_key_is_taken_with_sha1(pair: tuple[socket.socket, socket.socket]) -> None:
    every: tuple[str, ...] = paramiko.Transport._preferred_keys  # type: ignore[attr-defined]
    others = tuple(name for name in every if name != "ssh-rsa")
    with pytest.raises(paramiko.SSHException, match="no acceptable host key"):
        meets(pair, paramiko.RSAKey.generate(2048), without=others)


def test_nor_where_sha2_was_agreed_on(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(paramiko.SSHException, match="host key: saw a signature with SHA-1"):
        meets(pair, OldKey(key=paramiko.RSAKey.generate(2048).key), "ssh-rsa")


def test_no_user_proves_itself_with_sha1() -> None:
    with socket.socket() as sock:
        stock, ours = (
            paramiko.Transport(sock),
            PollingTransport(sock, disabled_algorithms={"kex": []}),
        )
        assert "ssh-rsa" in pubkeys(stock)
        assert pubkeys(ours) == tuple(name for name in pubkeys(stock) if name != "ssh-rsa")


def pubkeys(transport: paramiko.Transport) -> tuple[str, ...]:
    return tuple(transport.preferred_pubkeys)


def test_small_packets_leave_at_once() -> None:
    with socket.socket() as sock:
        transport = nodelay(sock)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport.close()


def test_an_import_that_fails_meanwhile_is_left_to_the_deploy_to_tell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = []

    def import_module(name: str) -> None:
        tried.append(name)
        raise ModuleNotFoundError("No module named 'rich'")

    monkeypatch.setattr(transport, "import_module", import_module)
    transport._load_meanwhile.cache_clear()
    with socket.socket() as sock:
        nodelay(sock).close()
    gevent.sleep(0)
    assert set(tried) == {"pyinfra_nvml.fleet.session"}
    assert capsys.readouterr().err == ""
