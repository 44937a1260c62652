"""The ways in which a probe can fail on a node, and what a value then may still say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from pyinfra_nvml.facts.probe import Probe, Section
from pyinfra_nvml.model.unknown import Unknown

# Whose lines are free text: there is none of which it is sure that no node prints it.
_FREE_TEXT = {"nvidia_log.lines"}
GARBAGE = "???\n0 ? 1\n"


def failures(probe: Probe, answer: Section) -> dict[str, Section]:
    """The answer this probe gives when it fails, by the word of the reason that then is due.

    None where it gave no answer of which something could be taken away.
    """
    if answer.rc != 127 and answer.trouble is not None and not answer.out:
        return {}
    half = answer.out[: len(answer.out) // 2].rpartition("\n")[0]
    found = {
        "timed out": Section(probe.name, 124, half),
        "hung": Section(probe.name, None),
        "Permission denied": _denied(probe, answer),
    }
    if probe.name not in _FREE_TEXT:
        found["not understood"] = Section(probe.name, 0, GARBAGE)
    if half:
        found["longer than its limit"] = Section(probe.name, 0, half, cut=True)
    return found


def _denied(probe: Probe, answer: Section) -> Section:
    """What a shell, or for files grep, says of something that this user may not have."""
    if "grep -H" not in probe.command:
        return Section(probe.name, 1, "", "sh: 1: cannot open: Permission denied")
    paths = dict.fromkeys(re.findall(r"^(/[^:]+):", answer.out, re.MULTILINE))
    # grep ends with 2 where one of its files was not read, 126 is the shell's: not to be started.
    complaints = "\n".join(f"grep: {path}: Permission denied" for path in paths)
    said = f"{answer.err}\n{complaints}" if paths else "sh: Permission denied"
    return Section(probe.name, 2 if paths else 126, "", said)


def unknowns(value: object) -> set[Unknown]:
    """Everything in this value that could not be told."""
    if isinstance(value, Unknown):
        return {value}
    parts: list[object] = []
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, (tuple, list)):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    return {one for part in parts for one in unknowns(part)}


def claims(whole: object, value: object, path: str = "value") -> Iterator[str]:
    """The places where a value says something else than the whole one, instead of "unknown".

    A list of what could not be read (`unseen`, `unread`) speaks for the fields beside it, and what
    was absent or unknown may become something of which a part is unknown.
    """
    if value == whole or isinstance(value, Unknown):
        return
    if (whole is None or isinstance(whole, Unknown)) and unknowns(value):
        return
    if is_dataclass(whole) and type(whole) is type(value):
        if not _admitted(whole, value):
            for field in fields(whole):
                one, other = getattr(whole, field.name), getattr(value, field.name)
                yield from claims(one, other, f"{path}.{field.name}")
    elif isinstance(whole, tuple) and isinstance(value, tuple) and len(whole) == len(value):
        for at, (one, other) in enumerate(zip(whole, value, strict=True)):
            yield from claims(one, other, f"{path}[{at}]")
    else:
        yield f"{path}: {str(value)[:80]}, want {str(whole)[:80]} or unknown"


def _admitted(whole: object, value: object) -> bool:
    lists = [name for name in ("unseen", "unread") if hasattr(value, name)]
    return any(unknowns(getattr(value, n)) - unknowns(getattr(whole, n)) for n in lists)
