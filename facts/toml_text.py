"""A TOML file of a node, read by tomllib (toml.io, version 1.0.0)."""

from __future__ import annotations

import re
import sys
from typing import Any

from pyinfra_nvml.model.unknown import Unknown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Table = dict[str, Any]

# tomllib's words: "Expected '=' after a key in a key/value pair (at line 2, column 5)".
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def parse_toml(path: str, text: str) -> Table | Unknown:
    """The tables of the file; where it is no TOML, the line and the column of the first fault."""
    try:
        tables: Table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        return Unknown(_fault(path, text, str(fault)))
    except (ValueError, RecursionError) as fault:
        return Unknown(f"{path}: the TOML cannot be read: {type(fault).__name__}: {fault}"[:300])
    return tables


def value_at(tables: object, *keys: str) -> Any:
    """The value below these keys, ``None`` where one of them is not set."""
    value: Any = tables
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _fault(path: str, text: str, words: str) -> str:
    place = _PLACE.search(words)
    lines = text.split("\n")
    line, column = len(lines), len(lines[-1]) + 1
    if place and place[1]:
        line, column = int(place[1]), int(place[2])
    return f"{path}, line {line}, column {column}: not valid TOML: {_PLACE.sub('', words)[:200]}"
