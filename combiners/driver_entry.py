"""The cgroup driver's entry in a daemon.json: only that changes, every other byte stays."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyinfra_nvml.combiners.daemon_document import (
    Document,
    Refused,
    document,
    is_empty,
    json_refusal,
)
from pyinfra_nvml.combiners.json_spans import Member, Span
from pyinfra_nvml.settings.choices import DRIVERS

"""What dockerd takes; anything else stops it at its next start (moby daemon/daemon_unix.go)."""

KEY = "exec-opts"
OPTION = "native.cgroupdriver"

Edit = tuple[int, int, str]
"""Start and end in the old text (in characters, behind the byte order mark), and the new text."""


@dataclass(frozen=True)
class Candidate:
    """The file as it should be; unchanged, it holds the very bytes that it was made from."""

    content: bytes
    changed: bool
    edits: tuple[Edit, ...] = ()


def with_driver(before: bytes | None, driver: str, path: str) -> Candidate | Refused:
    """The file with this driver, or why it is left alone; ``None`` is an absent file.

    Every spelling of the option counts (dockerd compares it case-insensitively and trims it), and
    several become one: the first wins up to Docker 27.5, the last from 28 on (moby getCD,
    GetExecOpt).
    """
    if driver not in DRIVERS:
        return Refused(path, f"the driver {driver} asked for", " or ".join(DRIVERS))
    if is_empty(before):
        fresh = f'{{\n    "{KEY}": ["{OPTION}={driver}"]\n}}\n'
        return Candidate(fresh.encode(), True)
    found = document(before, path)
    if isinstance(found, Refused):
        return found
    edits = _edits(found, driver, path)
    if isinstance(edits, Refused):
        return edits
    if not edits:
        return Candidate(before or b"", False)
    return Candidate(found.bom + _applied(found.text, edits).encode(), True, edits)


def entry_driver(option: str) -> str | None:
    """The driver that an exec-opt names, ``None`` where it is another option."""
    key, _, value = option.partition("=")
    return value.strip() if key.strip().lower() == OPTION else None


def named_drivers(found: Document) -> tuple[str, ...]:
    """Every driver that the document's exec-opts name, in their order."""
    options = found.value.get(KEY)
    texts = [one for one in options if isinstance(one, str)] if isinstance(options, list) else []
    drivers = (entry_driver(text) for text in texts)
    return tuple(driver for driver in drivers if driver is not None)


def _edits(found: Document, driver: str, path: str) -> tuple[Edit, ...] | Refused:
    members = found.root.members
    for member in members:
        if member.key != KEY and member.key.lower() == KEY:
            # dockerd knows its keys in lower case only, and does not start with another.
            return json_refusal(
                found, member.start, path, f"the key {member.key}", f"the key {KEY}"
            )
    entry = f'"{OPTION}={driver}"'
    options = next((member.at for member in members if member.key == KEY), None)
    if options is None:
        return (_new_member(found.text, found.root, f"[{entry}]"),)
    if options.value is None:
        return ((options.start, options.end, f"[{entry}]"),)
    if not isinstance(options.value, list):
        return json_refusal(found, options.start, path, f"{KEY} is no list", f"{KEY} as a list")
    for item in options.items:
        if not isinstance(item.value, str):
            return json_refusal(
                found, item.start, path, f"{KEY} with no string", "only strings in it"
            )
    return _list_edits(found.text, options, entry, driver)


def _list_edits(text: str, options: Span, entry: str, driver: str) -> tuple[Edit, ...]:
    named = [entry_driver(str(item.value)) for item in options.items]
    places = [place for place, name in enumerate(named) if name is not None]
    if not places:
        return (_new_item(text, options, entry),)
    first = options.items[places[0]]
    edits: list[Edit] = []
    if named[places[0]] != driver:
        edits.append((first.start, first.end, entry))
    for place in places[1:]:
        # Out goes the comma before the entry with it; what stands before that comma stays.
        edits.append((options.items[place - 1].end, options.items[place].end, ""))
    return tuple(edits)


def _new_item(text: str, options: Span, entry: str) -> Edit:
    items = options.items
    if not items:
        return options.start + 1, options.start + 1, entry
    if len(items) > 1:
        between = text[items[-2].end : items[-1].start]
    else:
        lead = text[options.start + 1 : items[0].start]
        between = "," + (lead if "\n" in lead else " ")
    return items[-1].end, items[-1].end, _one_break(between) + entry


def _new_member(text: str, root: Span, value: str) -> Edit:
    """The new member behind the last one, set apart as the file sets its members apart."""
    members = root.members
    if not members:
        inner = text[root.start + 1 : root.end - 1]
        lead = _newline(inner) + "    " if "\n" in inner else inner
        return root.start + 1, root.start + 1, f'{lead}"{KEY}": {value}'
    last = members[-1]
    colon = _colon(text, last)
    if len(members) > 1:
        between = text[members[-2].at.end : last.start]
    else:
        lead = text[root.start + 1 : last.start]
        between = "," + (lead if "\n" in lead else " " if colon.endswith(" ") else "")
    return last.at.end, last.at.end, f'{_one_break(between)}"{KEY}"{colon}{value}'


def _colon(text: str, member: Member) -> str:
    colon = text[member.end : member.at.start]
    return ": " if "\n" in colon else colon


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _one_break(between: str) -> str:
    """Blank lines between members are not repeated: the last line break and its indentation."""
    return re.sub(r"(?:[ \t]*\r?\n)+(?=[ \t]*\r?\n)", "", between)


def _applied(text: str, edits: tuple[Edit, ...]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
