"""Findings that somebody answers for until a day: on which hosts, who, why, until when."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase

from pyinfra_nvml.settings.wrong import Wrong, WrongValue, wrong_value

_WANTED = ("check", "owner", "reason", "expires")
_NARROWED = ("hosts", "subjects")
_EVERY = ("*",)


@dataclass(frozen=True)
class Waiver:
    """One item of the setting ``waivers``: it holds through the day on which it expires (UTC).

    .. code:: python

        Waiver("device-exposure", "gpu-team", "replaced in January", date(2027, 1, 31),
               hosts=("gpu-0*",), subjects=("container train-*",))
    """

    check: str
    owner: str
    reason: str
    expires: date
    hosts: tuple[str, ...] = _EVERY
    subjects: tuple[str, ...] = _EVERY

    def on(self, host: str) -> bool:
        """Whether it is about this host: ``hosts`` are names or patterns of them."""
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)

    def about(self, subject: str) -> bool:
        """Whether it is about this subject of a finding: ``subjects`` are such, or patterns."""
        return any(fnmatchcase(subject, pattern) for pattern in self.subjects)


def waivers(value: object, checks: Collection[str]) -> tuple[Waiver, ...]:
    """The waivers of an inventory; the error has each wrong one: its item and its key."""
    if value is None:
        return ()
    if isinstance(value, (list, tuple)) and all(isinstance(item, Waiver) for item in value):
        return tuple(value)
    if not isinstance(value, (list, tuple)):
        raise WrongValue(wrong_value("waivers", value, "a list of waivers"))
    meant: list[Waiver] = []
    wrong: list[Wrong] = []
    for number, item in enumerate(value, 1):
        try:
            meant.append(_waiver(number, item, checks))
        except WrongValue as refusal:
            wrong += refusal.wrong
    if wrong:
        raise WrongValue(*wrong)
    return tuple(meant)


def _waiver(number: int, item: object, checks: Collection[str]) -> Waiver:
    if not isinstance(item, Mapping):
        raise _wrong(f"item {number} is {item!r}", f"an object with {', '.join(_WANTED)}")
    for key in item:
        if key not in (*_WANTED, *_NARROWED):
            found = f"item {number} has the unknown key {key}"
            raise _misspelt(found, str(key), (*_WANTED, *_NARROWED))
    check, owner, reason = (_words(number, key, item.get(key)) for key in _WANTED[:3])
    if check not in checks:
        raise _misspelt(f"check of item {number} is {check!r}", check, checks)
    expires = _day(number, item.get("expires"))
    hosts, subjects = (_patterns(number, key, item.get(key)) for key in _NARROWED)
    return Waiver(check, owner, reason, expires, hosts, subjects)


def _wrong(found: str, expected: str) -> WrongValue:
    return WrongValue(Wrong("waivers", f"setting waivers: {found}", f"; expected {expected}"))


def _unlike(number: int, key: str, value: object, expected: str) -> WrongValue:
    seen = "missing" if value is None else repr(value)
    return _wrong(f"{key} of item {number} is {seen}", expected)


def _misspelt(found: str, name: str, known: Collection[str]) -> WrongValue:
    if near := get_close_matches(name, known, n=1):
        return WrongValue(
            Wrong("waivers", f"setting waivers: {found}", f": did you mean {near[0]}?")
        )
    return _wrong(found, f"one of {', '.join(sorted(known))}")


def _words(number: int, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _unlike(number, key, value, "text")
    return value.strip()


def _day(number: int, value: object) -> date:
    # A datetime is a date too, and its hour means nothing here.
    text = str(value)[:10] if isinstance(value, date) else value
    # Python 3.11 also reads 20270131 and 2027-W04-7 (library reference, date.fromisoformat).
    if isinstance(text, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        with suppress(ValueError):
            return date.fromisoformat(text)
    raise _unlike(number, "expires", value, "a date like 2027-01-31")


def _patterns(number: int, key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return _EVERY
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names:
        raise _unlike(number, key, value, f"names or patterns of {key}")
    return tuple(_words(number, key, name) for name in names)
