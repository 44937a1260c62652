"""Values that could not be read: never empty, never ok, always with the reason."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, ClassVar


@dataclass(frozen=True)
class Unknown:
    """The node did not say, and why.

    In a fact's value ``None`` means that the node was asked and has no such thing; ``Unknown``
    means that it could not be told. A check answers ``Unknown`` with "could not tell".

    .. code:: python

        Unknown("docker info: exit 1: permission denied")
    """

    reason: str

    def to_json(self) -> dict[str, str]:
        return {"unknown": self.reason}


_AS_THEY_ARE = frozenset((str, int, bool, float))


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def plain(value: object) -> object:
    """A fact's value as JSON types: dataclasses become objects, tuples lists, bytes text."""
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, Unknown) or (isinstance(value, Value) and value.private):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value


class Value:
    """Base of every fact's value: ``pyinfra HOST fact`` prints it through ``to_json``."""

    private: ClassVar[bool] = False
    """Whether it holds what is not to be shown; its own ``to_json`` then leaves that out."""

    def to_json(self) -> object:
        return plain(self)
