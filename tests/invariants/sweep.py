"""Tries the invariants on many machines, and tells what breaks them, by kind.

python -m tests.invariants.sweep 2000 [--write]
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import yaml

from tests.invariants import rules
from tests.invariants.rules import Violation
from tests.invariants.subjects import cases, generated, recorded

OPEN = Path(__file__).parent.parent / "invariants_open.yaml"
PROBES = 2
"""How many probes of a case or a machine are taken away, each alone; of a recorded node, all."""

COUNT = int(os.environ.get("MACHINES", "500"))

HEAD = """\
# Invariants that do not hold yet, by kind: where each is seen, and why. tests/test_invariants.py
# wants each of them to fail there still: take an entry out when its fault is mended.
"""


def sweep(count: int) -> Iterator[Violation]:
    """What breaks them on recorded nodes, cases and so many machines."""
    for subject in recorded():
        yield from rules.broken(subject)
    for subject in chain(cases(), generated(count)):
        yield from rules.broken(subject, only=PROBES)


def entries() -> list[dict[str, str]]:
    """The list of those that are open."""
    found: list[dict[str, str]] = yaml.safe_load(OPEN.read_text()) if OPEN.exists() else []
    return found or []


def main(words: list[str]) -> int:
    """Prints each kind with how often it was met and where first; may add to the list."""
    count: Counter[tuple[str, str]] = Counter()
    families: dict[tuple[str, str], set[str]] = {}
    first: dict[tuple[str, str], Violation] = {}
    for one in sweep(int(words[0]) if words else COUNT):
        key = (one.invariant, one.kind)
        count[key] += 1
        families.setdefault(key, set()).add(one.family)
        first.setdefault(key, one)
    for key in sorted(count):
        one = first[key]
        shown = f"{count[key]:6} in {len(families[key])} families"
        print(f"{shown}  {key[0]} {key[1]}\n        {one.subject}: {one.detail}")
    if "--write" in words:
        known = {(entry["invariant"], entry["kind"]): entry for entry in entries()}
        rows = [_entry(first[key], known.get(key)) for key in sorted(count)]
        OPEN.write_text(HEAD + yaml.safe_dump(rows, sort_keys=False, width=110))
    return 0


def _entry(one: Violation, known: dict[str, str] | None) -> dict[str, str]:
    if known:
        return known
    return {"invariant": one.invariant, "kind": one.kind, "seen": one.subject, "why": one.detail}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
