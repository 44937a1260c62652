"""Records a node: the script to run there, and its answers with what is private replaced.

.venv/bin/python -m tests.record script | ssh HOST sudo sh -s |
  .venv/bin/python -m tests.record save NAME 'seen on Debian 13, Docker 26.1.5, H100'
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from facts.node import Node
from tests.recordings import NODES

_UUID = re.compile(r"\b[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I)
_NO_UUID = "00000000-0000-0000-0000-000000000000"
_ADDRESS = re.compile(r"\b(?!127\.|0\.0\.0\.0)(\d{1,3}\.){3}\d{1,3}\b(?!/8)")
_PROXY = re.compile(r'"(HttpProxy|HttpsProxy|NoProxy)":"[^"]*"')
_NAMES = (
    re.compile(r'"Name":"([^"/]+)","Labels"'),  # docker info
    re.compile(r"^\|name (\S+)$"),
)


def clean(lines: Iterable[str]) -> list[str]:
    """The lines with host names, UUIDs, addresses and proxies replaced."""
    kept = list(lines)
    names = {found[1] for line in kept for name in _NAMES if (found := name.search(line))}
    for place, line in enumerate(kept):
        line = _UUID.sub(_NO_UUID, line)
        line = _PROXY.sub(r'"\1":""', line)
        line = _ADDRESS.sub("192.0.2.1", line)
        for name in names:
            line = re.sub(rf'"Name":"{re.escape(name)}"', '"Name":"node"', line)
        kept[place] = line
    return kept


def private(text: str) -> set[str]:
    """What in this text looks like a UUID, an address or a proxy of a real machine."""
    uuids = {found[0] for found in _UUID.finditer(text)} - {_NO_UUID}
    addresses = {found[0] for found in _ADDRESS.finditer(text)} - {"192.0.2.1"}
    proxies = {found[0] for found in _PROXY.finditer(text) if not found[0].endswith(':""')}
    return uuids | addresses | proxies


def main(words: list[str]) -> int:
    """``script`` prints what to run on the node, ``save NAME ORIGIN`` keeps what it answered."""
    if words == ["script"]:
        sys.stdout.write(Node().command())
        return 0
    if len(words) == 3 and words[0] == "save" and re.fullmatch(r"[a-z0-9_]+", words[1]):
        lines = clean(sys.stdin.read().splitlines())
        if not any(line.startswith("@end ") for line in lines):
            print("recording: saw no @end line, want the whole answer of a node", file=sys.stderr)
            return 1
        place = NODES / words[1] / "recording.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join([f"# {words[2]}", *lines]) + "\n")
        print(f"written: {place}")
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
