"""The hosts of an ssh client's configuration (ssh_config(5)), by their names there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from paramiko.ssh_exception import ConfigParseError
from pyinfra.api.exceptions import InventoryError

# It follows Include, which paramiko's own does not; pyinfra connects by the same.
from pyinfra.connectors.sshuserclient.config import SSHConfig

DEFAULT = "~/.ssh/config"


def hosts(path: str, patterns: Sequence[str]) -> list[str | tuple[str, dict[str, object]]]:
    """The hosts that a ``Host`` line names in full and a pattern matches, in the file's order.

    Patterns are those of ``Host`` lines: ``*``, ``?``, and ``!`` before one that is not meant. All
    else (HostName, User, Port, ProxyJump, IdentityFile) pyinfra reads from the same file as it
    connects; it is only told of a file that is not the usual one.

    .. code:: python

        ["gpu-10", "gpu-2"]
    """
    wanted = [text for text in patterns if text.strip()]
    if not wanted:
        raise InventoryError("ssh_config: saw no pattern, want some like 'gpu-*' or '* !bastion'")
    named = _named(path)
    found = [name for name in named if _matches(name, wanted)]
    if not found:
        raise InventoryError(
            f"{path}: saw no host for {' '.join(wanted)}, want one of {len(named)} that Host lines"
            f" name in full: {', '.join(named[:10]) or 'there is none'}"
        )
    usual = Path(path).expanduser() == Path(DEFAULT).expanduser()
    data: dict[str, object] = {"ssh_config_file": str(Path(path).expanduser())}
    return list(found) if usual else [(name, dict(data)) for name in found]


def _named(path: str) -> list[str]:
    config = SSHConfig()
    try:
        with Path(path).expanduser().open(encoding="utf-8") as file:
            config.parse(file)
    except OSError as fault:
        raise InventoryError(f"{path}: {fault.strerror}, want an ssh_config file") from fault
    except (ConfigParseError, UnicodeDecodeError) as fault:
        raise InventoryError(f"{path}: {fault}, want the form of ssh_config(5)") from fault
    # get_hostnames() has no order, and fails where the file has a Match block (paramiko 4.0).
    blocks: list[dict[str, list[str]]] = getattr(config, "_config")  # noqa: B009
    names = (name for block in blocks for name in block.get("host", ()))
    return list(dict.fromkeys(name for name in names if not set(name) & set("*?!")))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    told = [pattern for pattern in patterns if fnmatchcase(name, pattern.removeprefix("!"))]
    return bool(told) and not any(pattern.startswith("!") for pattern in told)
