"""Settings of SSH that make a fleet's audit slow, as measured (docs/performance.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyinfra.api import State
from pyinfra.connectors.ssh import SSHConnector

FEW = 20
"""Up to this many hosts nothing is said."""

_KNOWN = 1000
_BLOCKS = 200
_SLOW_KEX = re.compile(r"^diffie-hellman-group1[5-8]-")


def slow_settings(
    data: Iterable[Mapping[str, object]], exchanges: Mapping[str, str], home: Path
) -> Iterator[str]:
    """One line for each setting met: ``data`` is each SSH host's, ``exchanges`` its key exchange.

    .. code:: python

        "known_hosts: 3000 lines, 3000 of them hashed; each connection reads all ..."
    """
    every = list(data)
    if len(every) <= FEW:
        return
    for path in _paths(every, "ssh_known_hosts_file", home / ".ssh" / "known_hosts"):
        yield from _known_hosts(path)
    for path in _paths(every, "ssh_config_file", home / ".ssh" / "config"):
        yield from _config(path)
    slow = sorted(name for name, kex in exchanges.items() if _SLOW_KEX.match(kex))
    if slow:
        yield (
            f"key exchange: {exchanges[slow[0]]} with {len(slow)} of {len(every)} nodes, 0.1 s of "
            "CPU each in Python; want curve25519 or nistp256 in their sshd"
        )


def slow_settings_of_run(state: State) -> Iterator[str]:
    """Those that this run met on its SSH connections."""
    hosts = [host for host in state.activated_hosts if isinstance(host.connector, SSHConnector)]
    exchanges = {host.name: _exchange(host.connector) for host in hosts}
    return slow_settings([host.data.dict() for host in hosts], exchanges, Path.home())


def _exchange(connector: Any) -> str:
    """The key exchange agreed on, where the transport is that of fleet/transport.py."""
    client = getattr(connector, "client", None)
    transport = client.get_transport() if client else None
    return str(getattr(transport, "key_exchange", ""))


def _paths(data: list[Mapping[str, object]], name: str, default: Path) -> list[Path]:
    named = (str(each.get(name) or default) for each in data)
    return [Path(path).expanduser() for path in dict.fromkeys(named)]


def _known_hosts(path: Path) -> Iterator[str]:
    lines = [line for line in _lines(path) if line and not line.startswith("#")]
    hashed = sum(line.startswith("|1|") for line in lines)
    if len(lines) > _KNOWN:
        yield (
            f"{path}: {len(lines)} lines, {hashed} of them hashed, and each connection reads all; "
            "want a file of the fleet's own, not hashed: host data ssh_known_hosts_file"
        )


def _config(path: Path) -> Iterator[str]:
    blocks = sum(line.lower().startswith(("host ", "match ")) for line in _lines(path))
    if blocks > _BLOCKS:
        yield (
            f"{path}: {blocks} Host blocks, and each connection reads all; "
            "want a short file for the fleet: host data ssh_config_file"
        )


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(errors="replace").splitlines()]
    except OSError:
        # A file that is not there slows nothing; one that cannot be read is the connection's news.
        return []
