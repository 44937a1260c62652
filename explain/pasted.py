"""A text that somebody pasted, whatever it came out of, as plain lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CAP = 8 * 1024 * 1024
"""Bytes of a text that are read: of a longer one the end, where a log has the fault."""

_WIDE, _OVERLAP = 4096, 512
"""Characters of a line that are looked at in one piece, and what two pieces share."""

_JSON_UP_TO = 1024 * 1024

# ECMA-48: control sequences (colours, cursor), operating system commands (titles, links).
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

# Windows tools write UTF-16 (wsl.exe --version > file); the order of these counts.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class Line:
    """A line and its number in the text, from 1."""

    number: int
    text: str


def tail(stream: BinaryIO, cap: int = CAP) -> tuple[bytes, bool]:
    """The last bytes of a stream, and whether there were more before them."""
    kept, more = b"", False
    while piece := stream.read(1024 * 1024):
        kept += piece
        if len(kept) > 2 * cap:
            kept, more = kept[-cap:], True
    return kept[-cap:], more or len(kept) > cap


def pasted_lines(data: bytes) -> Iterator[Line]:
    """The lines without colours and carriage returns, out of their JSON where they are in JSON."""
    for number, raw in enumerate(_decoded(data).removesuffix("\n").split("\n"), 1):
        for text in _messages(raw.rstrip("\r")):
            # What a carriage return overwrote on the terminal stands before the last one.
            for part in re.split(r"[\r\n]+", _ESCAPES.sub("", text)):
                yield from (Line(number, piece) for piece in _pieces(part))


def _decoded(data: bytes) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    return data.decode("utf-8", "replace").replace("\0", "")


def _messages(line: str) -> list[str]:
    """The texts of a line of JSON (Docker's json-file, journalctl -o json, kubectl); else it."""
    start = line.lstrip()
    if not start.startswith("{") or len(line) > _JSON_UP_TO:
        return [line]
    try:
        return list(_texts(json.loads(start))) or [line]
    except (ValueError, RecursionError):
        return [line]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= _WIDE:
        yield text
        return
    for start in range(0, len(text), _WIDE - _OVERLAP):
        yield text[start : start + _WIDE]
