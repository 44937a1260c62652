"""docs/versions.md from the results."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.versions.row import ROOT, Result, Row

PATH = ROOT / "docs" / "versions.md"

_HEAD = """\
# Versions

The unit tests (all but those on real nodes) on every Python that is promised; written by
`make versions` on {day}, of commit {commit}. "newest" is what requirements.lock holds,
installed with its hashes; "lowest" the oldest that pyproject.toml allows of what the tool itself
needs: {lowest}.

"installed" is the wheel in a virtual environment with nothing else than what the tool needs, in a
folder outside the checkout: `nvml-audit --help` and `nvml-explain` have answered there.

| Python | dependencies | tests | installed |
| --- | --- | --- | --- |
"""
_TAIL = """
`make versions` wants each of these Pythons on PATH, PyPI or a mirror within reach
(UV_DEFAULT_INDEX), and about half an hour of two cores. It tries what is committed, in a clone.
Ended early, the same command tries what is left; `results/versions` has all that was said.
`make versions ROWS=3.13-lowest` tries one row.
"""


def page(results: Mapping[Row, Result], commit: str, day: str, project: str) -> str:
    """The page; project is the pyproject.toml that was tried."""
    head = _HEAD.format(day=day, commit=commit, lowest=", ".join(bounds(project)))
    rows = [
        f"| {row.number} | {row.which} | {result.tests} | {result.installed} |\n"
        for row, result in results.items()
    ]
    return head + "".join(rows) + _TAIL


def bounds(project: str) -> list[str]:
    """What a pyproject.toml allows at the least: ``paramiko 3.5``."""
    listed = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    found = re.findall(r'"([\w-]+)>=([\d.]+)', listed[1] if listed else "")
    return [f"{name} {version}" for name, version in found]
