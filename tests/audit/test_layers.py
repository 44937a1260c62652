"""Every module of the core has its place among the layers, so that import-linter looks at it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_module_is_outside_the_layers() -> None:
    # By its text: Python 3.10 has no reader of TOML.
    layers = (ROOT / "pyproject.toml").read_text().partition("\nlayers = [")[2]
    named = set(re.findall(r"\baudit(?:\.\w+)+", layers))
    there = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "audit").rglob("*.py")
        if path.name != "__init__.py"
    }
    assert named == there
