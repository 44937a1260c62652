"""docs/knobs.md, from the comments of inventories/group_data/all.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "inventories" / "group_data" / "all.py"
PATH = Path(__file__).with_name("knobs.md")

_HEAD = """\
# The knobs

Settings, as ordinary pyinfra data. The defaults are in `inventories/group_data/all.py`. Set your
own for all hosts there, for a group in `inventories/group_data/GROUP.py`, for a host beside its
name in the inventory, for a single run on the command line: `--data batch_size=25`.

Misspelt names and values that a knob cannot have end the run before a host is connected to. They
are reported all at once, each with its place: `knob max_failures: saw 'lots', want a number from 0
(--data)`, or `(group NAME)`, or `(host NAME and 2 more)`.

Written by `make docs`; change it there.
"""


def page() -> str:
    """The page's text."""
    return "\n".join([_HEAD, *_sections(SOURCE.read_text())])


def _sections(source: str) -> Iterator[str]:
    lines = source.splitlines()
    groups: list[tuple[list[str], list[str]]] = []
    last = 0
    for node in ast.parse(source).body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        comment = _comment_above(lines, node.lineno - 1)
        value = ast.get_source_segment(source, node.value) if node.value else ""
        assigned = f"{_name(node)} = {value}"
        if comment or node.lineno != last + 1:
            groups.append((comment, []))
        groups[-1][1].append(assigned)
        last = node.end_lineno or node.lineno
    for comment, knobs in groups:
        names = ", ".join(line.partition(" = ")[0] for line in knobs)
        yield "\n".join([f"## {names}", "", "```python", *knobs, "```", "", *comment, ""])


def _name(node: ast.Assign | ast.AnnAssign) -> str:
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    return ast.unparse(target)


def _comment_above(lines: list[str], place: int) -> list[str]:
    found: list[str] = []
    while place and lines[place - 1].startswith("# "):
        place -= 1
        found.insert(0, lines[place][2:])
    return found
