"""JSON documents on this machine, read as typed objects, or why not; put in place at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AllowInfNan, BeforeValidator, Strict, TypeAdapter, ValidationError

from pyinfra_nvml.audit.atomic_file import write_atomically

Record = TypeVar("Record")

_LONGEST = 60
"""Characters of a wrong value that are shown."""


class Unreadable(Exception):
    """Why a document says nothing: the file, what was seen, what is wanted."""


def _time(value: object) -> datetime:
    # Python 3.10 reads no "Z" (library reference, datetime.fromisoformat).
    time = datetime.fromisoformat(_text(value).replace("Z", "+00:00"))
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


def _day(value: object) -> date:
    return date.fromisoformat(_text(value))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text in ISO 8601, not {type(value).__name__}")
    return value


Time = Annotated[datetime, BeforeValidator(_time)]
"""``2026-11-30T12:00:00+00:00``; one that names no offset is in UTC."""

Day = Annotated[date, BeforeValidator(_day)]
"""``2027-01-31``."""

Number = Annotated[float, Strict(), AllowInfNan(False)]
"""A number, and no text that looks like one."""


def read_json(path: Path, version: int | None = None) -> dict[str, Any]:
    """The document in a file; raises ``Unreadable`` where there is none of this version."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise Unreadable(f"{path}: saw {fault.strerror or fault}, want a JSON document") from None
    except (ValueError, RecursionError) as fault:
        raise Unreadable(f"{path}: saw {fault}, want a JSON document") from None
    if not isinstance(content, dict):
        raise Unreadable(f"{path}: saw {type(content).__name__}, want a JSON object")
    if version is not None and content.get("version") != version:
        saw = f"version {content['version']!r}" if "version" in content else "no version"
        raise Unreadable(f"{path}: saw {saw}, want {version}, the one that this program reads")
    return content


def read_record(kind: TypeAdapter[Record], path: Path, version: int, do: str = "") -> Record:
    """The document in a file as a typed object; ``Unreadable`` says what is wrong, then ``do``.

    .. code:: python

        Unreadable("audit.json: saw no 'time' in it, want what this program writes: run it again")
    """
    try:
        return parse_record(kind, read_json(path, version), str(path))
    except Unreadable as reason:
        raise Unreadable(f"{reason}: {do}" if do else str(reason)) from None


def parse_record(kind: TypeAdapter[Record], content: object, name: str) -> Record:
    """The typed object that a document is; raises ``Unreadable`` with the first of its faults."""
    try:
        return kind.validate_python(content)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_context=False)[0]
        saw = _seen(first["type"], first["loc"], first["input"], first["msg"])
        raise Unreadable(f"{name}: {saw}") from None


def _seen(kind: str, place: Sequence[int | str], value: object, told: str) -> str:
    if kind == "missing":
        return f"saw no {place[-1]!r} in {_place(place[:-1])}, want what this program writes"
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
    if kind == "dataclass_type":
        want = "an object"
    else:
        want = told.removeprefix("Input should be ").removeprefix("Value error, ")
    return f"saw {shown} as {_place(place)}, want {want}"


def _place(steps: Sequence[int | str]) -> str:
    """``nodes[0].checks[2].status``, or the document as a whole."""
    named = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return named.removeprefix(".") or "it"


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Puts the document in place at once, a line for each of its parts (a node, a change)."""
    parts = (_part(*item) for item in content.items())
    write_atomically(path, "{\n" + ",\n".join(parts) + "\n}\n")


def _part(name: str, value: object) -> str:
    # json indents in Python, at ten times the cost of its C encoder (CPython, Lib/json/encoder.py).
    if isinstance(value, (list, tuple)) and value:
        return f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    return f"{json.dumps(name)}: {json.dumps(value)}"
