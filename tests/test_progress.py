"""Who waits at a terminal is told how far the audit is; a log or a timer is told nothing."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from audit.drift.progress import told

ROOT = Path(__file__).parents[1]
# as pyinfra 3.10.0 writes it
LOG = """\
--> Connecting to hosts...
    [gpu-01] Connected
    [gpu-02] Connected
    [gpu-03] Could not connect ([Errno None] Unable to connect to port 9 on gpu-03)

--> Preparing operation files...
    Loading: deploys/audit.py
    [gpu-01] Ready: deploys/audit.py
"""


def test_the_line_counts_what_pyinfra_wrote() -> None:
    assert told(LOG, 12.4) == "2 nodes connected, 1 asked, 12 s"
    assert told("", 0.0) == "0 nodes connected, 0 asked, 0 s"


def command(results: Path) -> list[str]:
    words = ["inventories/recorded.py", "--results", str(results), "--level", "none"]
    return [sys.executable, "-m", "audit", *words]


def test_a_terminal_is_told(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(tmp_path), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs
    ) as run:
        os.close(theirs)
        seen = b""
        while True:
            try:
                seen += os.read(ours, 1 << 12)
            except OSError:  # EIO: the last who had the terminal is gone (pty(7))
                break
        run.wait(60)
    os.close(ours)
    assert re.search(rb"\d+ nodes connected, \d+ asked, \d+ s", seen)


def test_a_log_is_told_nothing(tmp_path: Path) -> None:
    done = subprocess.run(command(tmp_path), cwd=ROOT, capture_output=True, text=True, check=False)
    assert "asked" not in done.stderr
