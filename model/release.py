"""A program's release as numbers, to be ordered, whatever a distribution put behind it."""

from __future__ import annotations

import re


def release(text: str) -> tuple[int, ...] | None:
    """The leading numbers (``1.1.5+ds1-1``, ``v1.1.4-0-g5fd4c4d``), or ``None`` where none lead.

    .. code:: python

        (1, 1, 5)
    """
    found = re.match(r"v?(\d{1,9}(?:\.\d{1,9})+)(?![0-9a-f])", text)
    return tuple(int(part) for part in found[1].split(".")) if found else None
