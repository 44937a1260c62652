"""A daemon.json as dockerd reads it: its one object with the places of its parts, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.combiners.json_spans import Broken, Span, parse_spans

BOM = b"\xef\xbb\xbf"
"""dockerd takes a byte order mark and skips it (moby daemon/config/config.go, BOMOverride)."""


@dataclass(frozen=True)
class Refused:
    """What is left alone: where it is not as it should be, what is there, what belongs there."""

    subject: str
    saw: str
    want: str

    @override
    def __str__(self) -> str:
        return f"{self.subject}: saw {self.saw}, want {self.want}"


@dataclass(frozen=True)
class Document:
    """The text behind the byte order mark, and its top level object."""

    text: str
    bom: bytes
    root: Span

    @property
    def value(self) -> dict[str, object]:
        """The object as plain values: ``{"exec-opts": ["native.cgroupdriver=cgroupfs"]}``."""
        return {member.key: member.at.value for member in self.root.members}


EMPTY = Document("{}", b"", Span(0, 2, {}))
"""What dockerd makes of an absent file and of an empty one (20.10 and 26.1 start with it)."""


def is_empty(content: bytes | None) -> bool:
    """Whether dockerd finds nothing in this file: absent, or white space only."""
    return content is None or not content.removeprefix(BOM).strip(b" \t\r\n")


def document(content: bytes | None, path: str) -> Document | Refused:
    """The document in these bytes, ``EMPTY`` where there is none; it never raises."""
    if content is None or is_empty(content):
        return EMPTY
    body = content.removeprefix(BOM)
    nul = body.find(b"\0")
    if nul >= 0:
        return Refused(f"{path}, {_place(body, nul)}", "a NUL byte", "text in UTF-8")
    try:
        text = body.decode()
    except UnicodeDecodeError as broken:
        byte = f"the byte {body[broken.start]:#04x}"
        return Refused(f"{path}, {_place(body, broken.start)}", byte, "text in UTF-8")
    try:
        root = parse_spans(text)
    except Broken as broken:
        where = _place(text.encode(), len(text[: broken.offset].encode()))
        return Refused(f"{path}, {where}", broken.saw, broken.want)
    if not isinstance(root.value, dict):
        where = _place(text.encode(), len(text[: root.start].encode()))
        return Refused(f"{path}, {where}", _kind(root.value), "an object at the top level")
    return Document(text, content[: len(content) - len(body)], root)


def json_refusal(found: Document, offset: int, path: str, saw: str, want: str) -> Refused:
    """A refusal at this place of the document."""
    where = _place(found.text.encode(), len(found.text[:offset].encode()))
    return Refused(f"{path}, {where}", saw, want)


def _place(body: bytes, offset: int) -> str:
    """Line and column of a byte, both from 1; a column is a character, as editors count."""
    line = body.count(b"\n", 0, offset) + 1
    start = body.rfind(b"\n", 0, offset) + 1
    return f"line {line}, column {len(body[start:offset].decode(errors='replace')) + 1}"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "a list"
    return "a string" if isinstance(value, str) else "a number"
