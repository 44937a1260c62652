"""Who waits at a terminal is told how far the audit is; a log or a timer is told nothing."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from pyinfra_nvml.drift.progress import progress_line

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
    assert progress_line(LOG, 12.4) == "2 nodes connected, 1 asked, 12 s"
    assert progress_line("", 0.0) == "0 nodes connected, 0 asked, 0 s"


def command(results: Path) -> list[str]:
    words = ["inventories/recorded.py", "--results", str(results), "--level", "none"]
    return [sys.executable, "-m", "pyinfra_nvml.drift", *words]


def test_a_terminal_is_told(tmp_path: Path) -> None:
    # script(1) runs it on a terminal of its own, and passes on what that shows.
    words = ["script", "--quiet", "--command", shlex.join(command(tmp_path)), "/dev/null"]
    done = subprocess.run(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
    )
    assert re.search(rb"\d+ nodes connected, \d+ asked, \d+ s", done.stdout)


def test_a_log_is_told_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert "asked" not in done.stderr
