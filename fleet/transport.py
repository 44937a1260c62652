"""The SSH transport of every inventory here."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from time import monotonic
from typing import Any

import gevent
import paramiko
from typing_extensions import override

from pyinfra_nvml.fleet import run_inventory
from pyinfra_nvml.fleet.connection_errors import install_log_handler
from pyinfra_nvml.fleet.controller_cpu import tune_gc
from pyinfra_nvml.fleet.standstill import LOGIN_SECONDS, limit_waits, unfinished_start

# pyinfra says of each host what paramiko says with a traceback and without the host's name.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

# Inventories are read before pyinfra connects: from here on its words about it are kept.
install_log_handler()
run_inventory.take_from_command_line()
tune_gc()

# known_hosts calls every RSA key so; of signatures it means SHA-1 (RFC 8332).
_SHA1 = "ssh-rsa"
_SHA2 = ("rsa-sha2-512", "rsa-sha2-256")


class PollingTransport(paramiko.Transport):
    """A transport that waits for its node instead of looking for news ten times a second.

    It neither makes nor takes a signature with SHA-1, which paramiko does up to 4.0.0
    (CVE-2026-44405); pyinfra 3.10 takes no newer one.

    With 500 idle connections the looking alone is a third of a core. What hangs on it is how soon
    a keepalive is due and a new key exchanged: seconds do (paramiko 4.0.0, `Packetizer.read_all`).
    """

    _active_check_timeout = 2.0

    channel_timeout: float

    _login: float
    _login_ends: float

    key_exchange = ""
    """The name of the last key exchange; paramiko forgets its engine once the keys are made."""

    def __init__(
        self,
        sock: Any,
        disabled_algorithms: Mapping[str, Iterable[str]] | None = None,
        **others: Any,
    ) -> None:
        disabled = _without_sha1(disabled_algorithms or {})
        super().__init__(sock, disabled_algorithms=disabled, **others)
        self.auth_timeout = LOGIN_SECONDS
        security = self.get_security_options()
        # AES-GCM first: one call in C a packet, where paramiko's own order means an HMAC in Python.
        security.ciphers = sorted(security.ciphers, key=lambda name: "-gcm@" not in name)

    @override
    def start_client(self, event: Any = None, timeout: float | None = None) -> None:
        # The client has put what known_hosts has of the node first, an RSA key under its old name.
        options = self.get_security_options()
        options.key_types = _with_sha2(options.key_types)
        super().start_client(event, timeout)
        if event is None and not self.initial_kex_done:
            # paramiko goes on, to "No existing session", for which pyinfra connects once more for
            # each key of the agent (3.10.0, `_retry_paramiko_agent_keys`).
            raise unfinished_start(self.remote_version, timeout)

    @property  # type: ignore[explicit-override] # there it is no property
    def auth_timeout(self) -> float:
        """The seconds left for the login; paramiko has that many for each key anew."""
        self._login_ends = self._login_ends or monotonic() + self._login
        return max(0.0, self._login_ends - monotonic())

    @auth_timeout.setter
    def auth_timeout(self, seconds: float) -> None:
        self._login, self._login_ends = seconds, 0.0

    @override
    def auth_publickey(self, *given: Any, **options: Any) -> list[str]:
        return self._in_time(
            lambda: super(PollingTransport, self).auth_publickey(*given, **options)
        )

    @override
    def auth_password(self, *given: Any, **options: Any) -> list[str]:
        return self._in_time(lambda: super(PollingTransport, self).auth_password(*given, **options))

    def _in_time(self, login: Callable[[], list[str]]) -> list[str]:
        try:
            return login()
        except paramiko.AuthenticationException:
            if self.auth_timeout:
                raise
            # No SSHException: after one, paramiko tries the same key's file as other kinds of key,
            # and tells of the last (4.0.0, `SSHClient._auth`).
            raise TimeoutError(f"no end of the login within {self._login:g} s") from None

    def _verify_key(self, host_key: bytes, signature: bytes) -> None:
        # paramiko takes a signature with SHA-1 even where another was agreed on.
        if paramiko.Message(signature).get_text() == _SHA1:
            raise paramiko.SSHException("host key: saw a signature with SHA-1, want SHA-2")
        super()._verify_key(host_key, signature)  # type: ignore[misc]

    @override
    def open_channel(self, *given: Any, **options: Any) -> paramiko.Channel:
        """A channel that waits for its node, but for nothing without an end.

        pyinfra limits the reading of a command's output alone (3.10.0, connectors/ssh.py): a node
        that stands still before it or after it, or with a file, would hold up the whole run.
        """
        channel = super().open_channel(*given, **options)
        limit_waits(channel, self.channel_timeout)
        return channel

    def _parse_kex_init(self, message: paramiko.Message) -> None:
        super()._parse_kex_init(message)  # type: ignore[misc]
        # Only the engines of the DH groups have a name: those are the slow ones.
        self.key_exchange = getattr(self.kex_engine, "name", "")


def _without_sha1(disabled: Mapping[str, Iterable[str]]) -> dict[str, Iterable[str]]:
    # paramiko's words for the signatures of a node and those of a user.
    return {**disabled, **{of: [*disabled.get(of, ()), _SHA1] for of in ("keys", "pubkeys")}}


def _with_sha2(names: Iterable[str]) -> tuple[str, ...]:
    """The same order, an RSA key by SHA-2: ``ssh-rsa, ssh-ed25519`` asks for the RSA key first."""
    wanted = [each for name in names for each in (_SHA2 if name == _SHA1 else (name,))]
    return tuple(dict.fromkeys(wanted))


def nodelay(sock: Any, **options: Any) -> paramiko.Transport:
    """A transport that sends small packets at once.

    paramiko leaves Nagle's algorithm on, which waits for the delayed acknowledgement of the
    packet before: 40 ms for every fact. A proxy command is no socket and needs nothing.
    """
    _load_meanwhile()
    if isinstance(sock, socket.socket):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return PollingTransport(sock, **options)


@cache
def _load_meanwhile() -> None:
    """Imports what judges the nodes while the first of them exchange their keys."""
    gevent.spawn(_load)


def _load() -> None:
    # What fails here fails again where the deploy imports it, and is told there.
    with suppress(Exception):
        import_module("pyinfra_nvml.fleet.session")


# What pyinfra connects to a ProxyJump's hop with has no options (3.10.0, sshuserclient/client.py).
paramiko.client.Transport = nodelay  # type: ignore[attr-defined, assignment]
