"""The page of the mission: what it asks, point by point, and the command that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROWS = Path(__file__).parents[1] / "tests" / "mission.yaml"
PATH = Path(__file__).with_name("mission.md")
RUNS = "tests/test_mission.py::test_the_command_shows_it"
"""The test that runs the command of every row that names no other."""

_HEAD = """\
# What the mission asks, and what shows it

This project answers two field reports: A, reading GPU memory in containers on MIG nodes; B, `Failed
to initialize NVML: Unknown Error` after a while. Each row is one point of them, with a command of
this checkout that shows the answer, and the test that runs the command. Written by `make docs` from
`tests/mission.yaml`.
"""


def rows() -> list[dict[str, Any]]:
    """The rows in their order."""
    said: list[dict[str, Any]] = yaml.safe_load(ROWS.read_text())
    return said


def page() -> str:
    """The text of docs/mission.md."""
    lines = [_HEAD, "| point | asked | command | shows | test |", "| --- | --- | --- | --- | --- |"]
    lines += [_row(row) for row in rows()]
    return "\n".join(lines) + "\n"


def _row(row: dict[str, Any]) -> str:
    shows = " ... ".join(str(text) for text in row.get("shows", ())) or "ends well"
    test = row.get("test", RUNS)
    name = test.rpartition("::")[2]
    link = f"[{name}](../{test.partition('::')[0]})"
    cells = (row["point"], row["asks"], _code(row["command"]), _code(shows), link)
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """Code in a cell: a bar would end the cell, a backtick the code."""
    fence = "``" if "`" in text else "`"
    space = " " if fence == "``" else ""
    return f"{fence}{space}{text.replace('|', chr(92) + '|')}{space}{fence}"
