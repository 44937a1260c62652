"""Values that could not be read: never empty, never ok, always with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
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
        """``{"unknown": "docker info: exit 1: permission denied"}``, as every reader knows it."""
        return {"unknown": self.reason}


_AS_THEY_ARE = frozenset((str, int, bool, float, type(None)))

_WAYS: dict[type[object], Callable[[Any], object]] = {}


def plain(value: object) -> object:
    """A fact's value as JSON types: dataclasses become objects, tuples lists, bytes text."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind not in _WAYS:
        # Looked up once, not for each value of a fleet.
        _WAYS[kind] = _way(kind)
    return _WAYS[kind](value)


def _way(kind: type[Any]) -> Callable[[Any], object]:
    """How values of this type are made plain."""
    if issubclass(kind, Unknown) or (issubclass(kind, Value) and kind.private):
        return _own
    if is_dataclass(kind):
        return _fields(tuple(field.name for field in fields(kind)))
    if issubclass(kind, Enum):
        return _value
    if issubclass(kind, dict):
        return _items
    if issubclass(kind, (list, tuple)):
        return _list
    return _text if issubclass(kind, bytes) else _itself


def _own(value: Unknown | Value) -> object:
    return value.to_json()


def _fields(names: tuple[str, ...]) -> Callable[[object], object]:
    def of_dataclass(value: object) -> object:
        return {name: plain(getattr(value, name)) for name in names}

    return of_dataclass


def _value(value: Enum) -> object:
    return plain(value.value)


def _items(value: dict[object, object]) -> object:
    return {str(key): plain(item) for key, item in value.items()}


def _list(value: Iterable[object]) -> object:
    return [plain(item) for item in value]


def _text(value: bytes) -> object:
    return value.decode("utf-8", "backslashreplace")


def _itself(value: object) -> object:
    return value


class Value:
    """Base of every fact's value: ``pyinfra HOST fact`` prints it through ``to_json``."""

    private: ClassVar[bool] = False
    """Whether it holds what is not to be shown; its own ``to_json`` then leaves that out."""

    def to_json(self) -> object:
        """The value as the JSON document and ``pyinfra HOST fact ... --json`` have it."""
        return plain(self)
