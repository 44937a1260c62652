"""Every point of the mission: the command of its row, run as it is there."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs import mission_page
from tests.typed import Ended, typed

ROOT = Path(__file__).parents[1]
POINTS = [f"A{n}" for n in range(1, 7)] + [f"B{n}" for n in range(1, 12)]
ROWS = mission_page.rows()
OWN = [row for row in ROWS if "test" not in row]
# Deploys, modules, tests, and the settings that are set.
STARTED = r"deploys/\w+\.py|(?<=-m )[\w.]+|tests/[\w/]+\.py|(?<=--data )\w+="
OTHERS = [row for row in ROWS if "test" in row]


@cache
def run(command: str) -> Ended:
    """The command in this checkout; a row shares the run of another with the same command."""
    return typed("sh", "-c", command, seconds=300)


@pytest.mark.parametrize("row", OWN, ids=lambda row: f"{row['point']}-{row['asks'][:40]}")
def test_the_command_shows_it(row: dict[str, Any]) -> None:
    done = run(row["command"])
    assert done.returncode == row.get("exit", 0), done.stdout + done.stderr
    said = (ROOT / row["file"]).read_text() if "file" in row else done.stdout
    told = re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*m", "", said + done.stderr))
    at = 0
    for text in row["shows"]:
        wanted = re.sub(r"\s+", " ", str(text))
        found = told.find(wanted, at)
        assert found >= 0, f"saw no {wanted!r} after {told[max(0, at - 80) : at]!r}"
        at = found + len(wanted)


def test_no_point_is_left_out() -> None:
    assert list(dict.fromkeys(row["point"] for row in ROWS)) == POINTS
    assert all(row["shows"] for row in OWN)


def test_the_tests_that_rows_name_are_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *{row["test"] for row in OTHERS}],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("row", OTHERS, ids=lambda row: f"{row['point']}-{row['asks'][:40]}")
def test_the_test_that_a_row_names_runs_its_command(row: dict[str, Any]) -> None:
    """By what the command starts, with which settings."""
    module = row["test"].partition("::")[0]
    source = (ROOT / module).read_text()
    # A test may take its commands from the page that shows them.
    pages = re.findall(r"docs/\w+\.md", source)
    source += "".join((ROOT / page).read_text() for page in pages)
    started = re.findall(STARTED, row["command"])
    assert started
    for part in started:
        assert part in source or part == module, part
