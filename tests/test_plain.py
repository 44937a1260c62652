"""Values of every shape that a fact may have, as JSON."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from pyinfra_nvml.model.unknown import Unknown, Value, plain


class Word(Enum):
    ON = "on"


class Pair(NamedTuple):
    first: object
    second: object


@dataclass(frozen=True)
class Held(Value):
    inner: object
    other: object


@dataclass(frozen=True)
class More(Held):
    third: object = None


@dataclass(frozen=True)
class Hidden(Value):
    content: object
    private: ClassVar[bool] = True

    @override
    def to_json(self) -> object:
        return "hidden"


Both = tuple[object, object]
"""A value, and what it is as JSON."""


def made(
    both: st.SearchStrategy[Both],
    value: Callable[[object, object], object],
    json_of: Callable[[object, object], object],
) -> st.SearchStrategy[Both]:
    """Two values put into a larger one."""
    return st.tuples(both, both).map(
        lambda two: (value(two[0][0], two[1][0]), json_of(two[0][1], two[1][1]))
    )


def larger(both: st.SearchStrategy[Both]) -> st.SearchStrategy[Both]:
    return st.one_of(
        made(both, lambda a, b: [a, b], lambda a, b: [a, b]),
        made(both, lambda a, b: (a, b), lambda a, b: [a, b]),
        made(both, Pair, lambda a, b: [a, b]),
        made(both, lambda a, b: {"x": a, 7: b}, lambda a, b: {"x": a, "7": b}),
        made(both, lambda a, b: OrderedDict(x=a, y=b), lambda a, b: {"x": a, "y": b}),
        made(both, Held, lambda a, b: {"inner": a, "other": b}),
        made(both, More, lambda a, b: {"inner": a, "other": b, "third": None}),
        both.map(lambda one: (Hidden(one[0]), "hidden")),
    )


SMALL: st.SearchStrategy[Both] = st.one_of(
    (st.none() | st.booleans() | st.integers() | st.text()).map(lambda value: (value, value)),
    st.text().map(lambda reason: (Unknown(reason), {"unknown": reason})),
    st.just((Word.ON, "on")),
    st.binary().map(lambda given: (given, given.decode("utf-8", "backslashreplace"))),
)


@given(st.recursive(SMALL, larger, max_leaves=20))
def test_whatever_is_in_what(both: Both) -> None:
    value, wanted = both
    assert plain(value) == wanted
    json.dumps(wanted)


def test_what_is_private_stays_so_wherever_it_is() -> None:
    secret = Hidden("a password")
    for value in (secret, [secret], {"x": (secret,)}, Held(secret, None)):
        assert "password" not in json.dumps(plain(value))
