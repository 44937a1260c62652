"""A user's login shell that is none of sh's kind: it runs not one line of what is meant for sh."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.operations import node
from tests.lab import requirements

WRITE = node.script(
    "say", "state", "lock", "replace", "validate", "config_file", "write_daemon_json"
)


@pytest.fixture
def csh() -> str:
    found = shutil.which("tcsh")
    if not found and requirements.required():
        pytest.fail("no tcsh here, want it: apt-get install tcsh", pytrace=False)
    if not found:
        pytest.skip("no tcsh here (apt-get install tcsh)")
    return found


def test_csh_runs_no_line_of_the_audit(csh: str, tmp_path: Path) -> None:
    """It ends no quoted word on another line; without the first lines it wrote files 2, 3, 500."""
    ended(csh, f"sh -c {shlex.quote(Node().command())}", tmp_path)


def test_csh_runs_no_line_of_an_operation(csh: str, tmp_path: Path) -> None:
    command = node.run(WRITE, str(tmp_path / "daemon.json"), str(tmp_path), stdin="", limit=9)
    ended(csh, command.get_raw_value(), tmp_path)


def ended(csh: str, command: str, place: Path) -> None:
    told = subprocess.run([csh, "-f", "-c", command], cwd=place, capture_output=True, text=True)
    assert told.returncode == 1
    assert (told.stdout, told.stderr.strip()) == ("", "Unmatched '''.")
    assert list(place.iterdir()) == []
