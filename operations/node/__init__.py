"""What runs on the node: POSIX sh (dash, bash, busybox ash), put together of the parts beside this.

A script is a constant; what differs from node to node comes as quoted arguments and on standard
input. So no file's content is ever in an argument list, which every user of the node can read.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pyinfra.api.command import QuoteString, StringCommand

from pyinfra_nvml.facts.node_script import NOT_CSH

_FOLDER = Path(__file__).parent


@cache
def script(*parts: str) -> str:
    """One sh script of these parts (their files' names without ``.sh``), in this order."""
    return "\n".join((_FOLDER / f"{part}.sh").read_text() for part in parts)


def run(source: str, *arguments: str, stdin: str, limit: int) -> StringCommand:
    """The command that runs this script with these arguments and this standard input.

    ``limit`` in seconds is its own: one that an inventory sets for short commands does not hold.
    """
    quoted = [QuoteString(argument) for argument in arguments]
    script = QuoteString(NOT_CSH + source)
    return StringCommand("sh", "-c", script, "pyinfra-nvml", *quoted, _stdin=stdin, _timeout=limit)


def refuse(*reasons: str) -> StringCommand:
    """A command that fails with these reasons.

    A refusal is this node's alone: an exception in an operation would end the run for every host
    (pyinfra 3.10).
    """
    lines = [QuoteString(reason) for reason in reasons]
    return StringCommand("printf", QuoteString("%s\\n"), *lines, ">&2;", "false")
