"""How far an audit is, for whoever waits at a terminal; elsewhere nothing is said."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

_EVERY = 0.5

# pyinfra 3.10 writes a line for each host that it connected to, and for each that was asked.
_CONNECTED = re.compile(r"^\s*\[[^\]]+\]\s+Connected", re.MULTILINE)
_ASKED = re.compile(r"^\s*\[[^\]]+\]\s+Ready: ", re.MULTILINE)


def wait_for_audit(process: subprocess.Popen[bytes], seconds: float, log: Path) -> int:
    """Waits for the audit; raises ``subprocess.TimeoutExpired`` after this many seconds."""
    if not sys.stderr.isatty():
        return process.wait(seconds)
    began = time.monotonic()
    with Console(stderr=True).status("connecting") as status:
        while True:
            spent = time.monotonic() - began
            try:
                return process.wait(min(_EVERY, max(0.0, seconds - spent)))
            except subprocess.TimeoutExpired:
                if spent >= seconds:
                    raise
            status.update(progress_line(log.read_text(errors="replace"), spent))


def progress_line(log: str, seconds: float) -> str:
    """One line: how many nodes are connected and how many have answered.

    .. code:: python

        "120 nodes connected, 80 asked, 12 s"
    """
    connected, asked = len(_CONNECTED.findall(log)), len(_ASKED.findall(log))
    return f"{connected} nodes connected, {asked} asked, {seconds:.0f} s"
