"""JSON documents on this machine: read, or why they cannot be; put in place at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyinfra_nvml.audit.atomic_file import put


class Unreadable(Exception):
    """Why a document says nothing: the file, what was seen, what is wanted."""


def read(path: Path, version: int | None = None) -> dict[str, Any]:
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


@contextmanager
def understood(name: str, do: str = "") -> Iterator[None]:
    """Turns what the code within stumbles over in a document into ``Unreadable``; says what to do.

    .. code:: python

        Unreadable("audit.json: saw no 'time' in it, want what this program writes: run it again")
    """
    try:
        yield
    except Unreadable as reason:
        raise Unreadable(_advised(str(reason), do)) from None
    except KeyError as fault:
        saw = f"saw no {fault} in it, want what this program writes"
        raise Unreadable(_advised(f"{name}: {saw}", do)) from None
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as fault:
        saw = f"saw a value of another kind ({fault}), want what this program writes"
        raise Unreadable(_advised(f"{name}: {saw}", do)) from None


def _advised(reason: str, do: str) -> str:
    return f"{reason}: {do}" if do else reason


def write(path: Path, content: Mapping[str, object]) -> None:
    """Puts the document in place at once, a line for each of its parts (a node, a change)."""
    put(path, "{\n" + ",\n".join(_part(*item) for item in content.items()) + "\n}\n")


def _part(name: str, value: object) -> str:
    # json indents in Python, at ten times the cost of its C encoder (CPython, Lib/json/encoder.py).
    if isinstance(value, (list, tuple)) and value:
        return f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, value)) + "\n]"
    return f"{json.dumps(name)}: {json.dumps(value)}"
