"""The flag that asks for a reboot, with its reason, where kured and the login message look."""

from __future__ import annotations

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import QuoteString, StringCommand, operation

from facts.reboot_flag import RebootFlag
from facts.unknown import Unknown
from operations import node

SENTINEL = "/run/reboot-required"
"""kured's default is /var/run/reboot-required, the same place; Ubuntu's login message prints it."""

MARK = "pyinfra-nvml: "
"""Stands before every line of ours: the lines of others in this file are never touched."""


@operation()
def flag(reason: str | None, sentinel: str = SENTINEL) -> Generator[StringCommand, None, None]:
    """
    The reboot flag holds this reason, or none of ours.

    + reason: one line that says why a reboot is wanted; None takes our line out again
    + sentinel: the flag's path

    The file lies on a tmpfs, so a reboot removes it.

    **Example:**

    .. code:: python

        reboot.flag(reason="NVIDIA driver: 550.90.07 loaded, 550.107.02 installed")
    """
    now = host.get_fact(RebootFlag, path=sentinel)
    lines = () if isinstance(now, Unknown) or now is None else now.lines
    others = [line for line in lines if not line.startswith(MARK)]
    wanted = [*others, *([MARK + " ".join(reason.split())] if reason else [])]
    if list(lines) == wanted and not isinstance(now, Unknown):
        host.noop(f"{sentinel} says {'why a reboot is wanted' if reason else 'nothing of ours'}")
    elif isinstance(now, Unknown):
        yield node.refuse(f"{sentinel}: saw {now.reason}, want it readable")
    elif wanted:
        yield _write(sentinel, wanted)
    else:
        yield StringCommand("rm", "-f", QuoteString(sentinel))


def _write(sentinel: str, lines: list[str]) -> StringCommand:
    """Writes beside the file and renames, so that a reader sees the old or the new one."""
    script = 'umask 022; cat >"$1.pyinfra-nvml" && mv -f "$1.pyinfra-nvml" "$1"'
    return StringCommand(
        "sh", "-c", QuoteString(script), "sh", QuoteString(sentinel), _stdin="\n".join(lines) + "\n"
    )
