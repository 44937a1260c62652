"""A JSON text's values with their places, as strict as Go's decoder and stricter on keys.

dockerd reads daemon.json with Go's encoding/json: no comments, no trailing comma, no NaN, and of
two equal keys the last one wins silently (pkg.go.dev/encoding/json, Unmarshal). Two equal keys are
refused here: nobody can tell which one its author meant.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

DEPTH = 200
"""Nesting that is followed; Go stops at 10000 (encoding/json, scanner.go), people at 4."""

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Broken(Exception):
    """The text is not JSON at this offset: what stands there and what belongs there."""

    def __init__(self, offset: int, saw: str, want: str) -> None:
        super().__init__(f"saw {saw}, want {want}")
        self.offset, self.saw, self.want = offset, saw, want


@dataclass(frozen=True)
class Span:
    """One value: where it stands in the text, what it is, and what it holds."""

    start: int
    end: int
    value: object
    members: tuple[Member, ...] = ()
    items: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Member:
    """One key of an object with its value; the offsets of the key include its quotes."""

    key: str
    start: int
    end: int
    at: Span = field(repr=False)


def parse_spans(text: str) -> Span:
    """The one value that this text holds; raises ``Broken`` where it is not that."""
    found = _value(text, _skip(text, 0), 0)
    rest = _skip(text, found.end)
    if rest < len(text):
        raise Broken(rest, f"{_shown(text, rest)} after the end", "one JSON value in the file")
    return found


def _value(text: str, at: int, depth: int) -> Span:
    if depth > DEPTH:
        raise Broken(at, f"nesting deeper than {DEPTH}", "a plain configuration")
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at, depth)
    if opening == "[":
        return _array(text, at, depth)
    return _leaf(text, at)


def _object(text: str, start: int, depth: int) -> Span:
    members: dict[str, Member] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if members:
            at = _comma(text, at, "}")
        if text[at : at + 1] != '"':
            raise Broken(
                at,
                _shown(text, at),
                "a key in double quotes"
                if not members
                else "a key in double quotes after the comma",
            )
        key = _leaf(text, at)
        colon = _skip(text, key.end)
        if text[colon : colon + 1] != ":":
            raise Broken(colon, _shown(text, colon), f"a colon after the key {key.value}")
        held = _value(text, _skip(text, colon + 1), depth + 1)
        name = str(key.value)
        if name in members:
            raise Broken(at, f'the key "{name}" a second time', "every key once")
        members[name] = Member(name, at, key.end, held)
        at = _skip(text, held.end)
    value = {member.key: member.at.value for member in members.values()}
    return Span(start, at + 1, value, members=tuple(members.values()))


def _array(text: str, start: int, depth: int) -> Span:
    items: list[Span] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        if items:
            at = _comma(text, at, "]")
        items.append(_value(text, at, depth + 1))
        at = _skip(text, items[-1].end)
    return Span(start, at + 1, [item.value for item in items], items=tuple(items))


def _comma(text: str, at: int, closing: str) -> int:
    """The place behind the comma that has to stand here."""
    if text[at : at + 1] != ",":
        raise Broken(at, _shown(text, at), f"a comma or {closing}")
    after = _skip(text, at + 1)
    if text[after : after + 1] == closing:
        raise Broken(at, f"a comma before {closing}", f"no comma before {closing}")
    return after


def _leaf(text: str, at: int) -> Span:
    try:
        value, end = _LEAVES.raw_decode(text, at)
    except json.JSONDecodeError as broken:
        if text[at : at + 1] == '"':
            raise Broken(broken.pos, _in_string(broken.msg), "a string as JSON has it") from None
        raise Broken(at, _shown(text, at), "a JSON value") from None
    except ValueError as broken:
        raise Broken(at, str(broken), "a number or a word as JSON has it") from None
    if isinstance(value, str) and (lone := _SURROGATE.search(value)):
        raise Broken(at, f"half a surrogate pair, {ord(lone[0]):#06x}", "whole characters")
    return Span(at, end, value)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _shown(text: str, at: int) -> str:
    """What stands here, in words that a terminal can show."""
    rest = text[at : at + 2]
    if not rest:
        return "the end of the file"
    if rest in ("//", "/*") or rest[0] == "#":
        return "a comment"
    if rest[0] == "'":
        return "a single quote"
    return f"{rest[0]!r}" if rest[0].isprintable() else f"the character {ord(rest[0]):#06x}"


def _in_string(complaint: str) -> str:
    # The three complaints of json.decoder.scanstring, in our words.
    if complaint.startswith("Unterminated"):
        return "a string without its closing quote"
    if "control character" in complaint:
        return "a control character in a string"
    return "a backslash that starts no escape of JSON"


def _refuse_constant(word: str) -> object:
    raise ValueError(f"the word {word}")


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        # Go: "cannot unmarshal number ... into Go value of type float64" (encoding/json).
        raise ValueError(f"{digits[:20]}, out of a double's range")
    return value


def _integer(digits: str) -> int | float:
    # int() refuses more than 4300 digits (Python 3.11); Go reads all numbers as doubles first.
    return int(digits) if len(digits) < 300 else _number(digits)


_LEAVES = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_number, parse_int=_integer)
