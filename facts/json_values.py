"""Values of a parsed JSON answer, by the type that is wanted; another type counts as empty."""

from __future__ import annotations


def text(value: object) -> str:
    """A string; empty where it is none."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def mapping(value: object) -> dict[str, object]:
    """An object."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, object]]:
    """The objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
