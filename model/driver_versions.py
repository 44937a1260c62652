"""NVIDIA's driver versions beside each other: raw text for equality, numbers for order."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version


def same(one: str, other: str) -> bool:
    """Whether both name one driver, as module and library compare them: by every part."""
    return one == other


def newer(one: str, other: str) -> bool | None:
    """Whether ``one`` is the newer driver; ``None`` where one of them is no version."""
    try:
        return Version(one) > Version(other)
    except InvalidVersion:
        return None
