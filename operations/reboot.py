"""The flag that asks for a reboot, with its reason, and the message to those who log in."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from pyinfra_nvml.facts.reboot_flag import SENTINEL, RebootFlag
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import node

MESSAGE = "/run/motd.d/pyinfra-nvml"
"""Its name stands for nothing but the order in which messages are shown."""

OWN_PREFIX = "pyinfra-nvml: "
"""Stands before every line of ours: the lines of others in this file are never touched."""


@operation()
def flag(
    reason: str | None, sentinel: str = SENTINEL, since: str | None = None
) -> Generator[StringCommand, None, None]:
    """
    The reboot flag holds this reason, or none of ours.

    + reason: one line that says why a reboot is wanted; None takes our lines out again
    + sentinel: the flag's path
    + since: when that began, on a line of its own; None keeps the one there for this reason

    The file lies on a tmpfs, so a reboot removes it.

    **Example:**

    .. code:: python

        reboot.flag(reason="NVIDIA driver: 550.90.07 loaded, 550.107.02 installed")
    """
    now = host.get_fact(RebootFlag, path=sentinel)
    lines = () if isinstance(now, Unknown) or now is None else now.lines
    others = [line for line in lines if not line.startswith(OWN_PREFIX)]
    wanted = [*others, *_ours(reason, since, lines)]
    if list(lines) == wanted and not isinstance(now, Unknown):
        host.noop(f"{sentinel} says {'why a reboot is wanted' if reason else 'nothing of ours'}")
    elif isinstance(now, Unknown):
        yield node.refuse(f"{sentinel}: saw {now.reason}, want it readable")
    elif wanted:
        yield _write(sentinel, wanted)
    else:
        yield StringCommand("rm", "-f", QuoteString(sentinel))


def _ours(reason: str | None, since: str | None, lines: Sequence[str]) -> list[str]:
    if not reason:
        return []
    line = OWN_PREFIX + " ".join(reason.split())
    kept = [old for old in lines if old.startswith(f"{OWN_PREFIX}since ")] if line in lines else []
    return [line, *([f"{OWN_PREFIX}since {since}"] if since else kept)]


@operation()
def message(reason: str | None, since: str | None = None) -> Generator[StringCommand, None, None]:
    """
    Who logs in reads that the node waits for a reboot, or nothing of ours.

    + reason: one line that says why; None takes the message away
    + since: when that began

    pam_motd(8) shows the files of /run/motd.d (Linux-PAM 1.3.1). It lies on a tmpfs as the flag
    does, so that no message outlives the reboot that it asks for.

    **Example:**

    .. code:: python

        reboot.message(reason="NVIDIA driver: 550.90.07 loaded, 550.107.02 installed")
    """
    now = host.get_fact(RebootFlag, path=MESSAGE)
    wanted = _words(reason, since) if reason else []
    if isinstance(now, Unknown):
        yield node.refuse(f"{MESSAGE}: saw {now.reason}, want it readable")
    elif (list(now.lines) if now else []) == wanted:
        host.noop("the login message is as it is to be")
    elif wanted:
        yield _write(MESSAGE, wanted)
    else:
        yield StringCommand("rm", "-f", QuoteString(MESSAGE))


def _words(reason: str, since: str | None) -> list[str]:
    return [
        f"This node waits for a reboot{f' since {since}' if since else ''}:",
        f"  {' '.join(reason.split())}",
        "Until then new programs and containers do not reach the GPUs.",
    ]


def _write(sentinel: str, lines: list[str]) -> StringCommand:
    """Writes beside the file and renames, so that a reader sees the old or the new one."""
    script = (
        'umask 022; mkdir -p "${1%/*}" && cat >"$1.pyinfra-nvml" && mv -f "$1.pyinfra-nvml" "$1"'
    )
    return StringCommand(
        "sh", "-c", QuoteString(script), "sh", QuoteString(sentinel), _stdin="\n".join(lines) + "\n"
    )
