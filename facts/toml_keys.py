"""The keys of a TOML file that is read without a TOML library: Python 3.10 has none."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TABLE = re.compile(r"\s*\[\s*([^\]]*?)\s*(?:\]\s*(?:#.*)?)?$")
_PAIR = re.compile(r"\s*([\w.\"'-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s#]+))")


def keys(text: str) -> Iterator[tuple[str, str, str]]:
    """Table, key and value of every line that sets one, comments behind ``#`` (toml.io, 1.0.0).

    nvidia-ctk, containerd and cri-o write one key a line. A header that is cut behind its bracket
    begins a table without a name.
    """
    table = ""
    for line in text.splitlines():
        if header := _TABLE.match(line):
            table = header[1]
        elif pair := _PAIR.match(line):
            yield table, pair[1], next(value for value in pair.groups()[1:] if value is not None)
