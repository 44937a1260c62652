"""Where the report for people goes."""

from __future__ import annotations

import io
import sys

from rich.console import Console

_WIDTH = 150
"""Columns of a report that goes to a file or another program."""


def screen() -> Console:
    """Standard output, which a character that its encoding lacks does not stop.

    With pyinfra's ``--json`` it is standard error: the other is for programs.
    """
    stream = sys.stderr if "--json" in sys.argv else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False)
