"""The ids of the checks that an inventory may name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_CHECKS = Path(__file__).resolve().parent.parent / "checks"


@cache
def check_ids() -> tuple[str, ...]:
    """The name of every module of ``checks`` with dashes; none of them is imported here."""
    return tuple(sorted(path.stem.replace("_", "-") for path in _CHECKS.glob("[a-z]*.py")))
