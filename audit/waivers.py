"""Findings that somebody answers for until a day: on which hosts, who, why, until when."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase

from audit.finding import Finding, Result, Waived

_WANTED = ("check", "owner", "reason", "expires")
_EVERY_HOST = ("*",)


@dataclass(frozen=True)
class Waiver:
    """One item of the knob ``waivers``: it holds through the day on which it expires (UTC).

    .. code:: python

        Waiver("engine-driver", "gpu-team", "replaced in January", date(2027, 1, 31), ("gpu-0*",))
    """

    check: str
    owner: str
    reason: str
    expires: date
    hosts: tuple[str, ...] = _EVERY_HOST

    def on(self, host: str) -> bool:
        """Whether it is about this host: ``hosts`` are names or patterns of them."""
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)


def waivers(value: object, checks: Collection[str]) -> tuple[Waiver, ...]:
    """The waivers of an inventory; ``ValueError`` has a line for each wrong one: item and key."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"saw {value!r}, want a list of waivers")
    meant, refused = [], []
    for number, item in enumerate(value, 1):
        try:
            meant.append(_waiver(number, item, checks))
        except ValueError as refusal:
            refused.append(str(refusal))
    if refused:
        raise ValueError("\n".join(refused))
    return tuple(meant)


def _waiver(number: int, item: object, checks: Collection[str]) -> Waiver:
    if not isinstance(item, Mapping):
        raise ValueError(f"item {number}: saw {item!r}, want an object with {', '.join(_WANTED)}")
    for key in item:
        if key not in (*_WANTED, "hosts"):
            near = _nearest(str(key), (*_WANTED, "hosts"))
            raise ValueError(f"item {number}, {key}: saw no such key, want {near}")
    check, owner, reason = (_words(number, key, item.get(key)) for key in _WANTED[:3])
    if check not in checks:
        near = _nearest(check, checks)
        raise ValueError(f"item {number}, check: saw {check!r}, want {near}")
    expires = _day(number, item.get("expires"))
    return Waiver(check, owner, reason, expires, _hosts(number, item.get("hosts")))


def _nearest(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return near[0] if near else f"one of {', '.join(sorted(known))}"


def _words(number: int, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        saw = "nothing" if value is None else repr(value)
        raise ValueError(f"item {number}, {key}: saw {saw}, want words")
    return value.strip()


def _day(number: int, value: object) -> date:
    # A datetime is a date too, and its hour means nothing here.
    text = str(value)[:10] if isinstance(value, date) else value
    # Python 3.11 also reads 20270131 and 2027-W04-7 (library reference, date.fromisoformat).
    if isinstance(text, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        with suppress(ValueError):
            return date.fromisoformat(text)
    saw = "nothing" if value is None else repr(value)
    raise ValueError(f"item {number}, expires: saw {saw}, want a date like 2027-01-31")


def _hosts(number: int, value: object) -> tuple[str, ...]:
    if value is None:
        return _EVERY_HOST
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names:
        raise ValueError(f"item {number}, hosts: saw {value!r}, want names or patterns of hosts")
    return tuple(_words(number, "hosts", name) for name in names)


def unmatched(given: Iterable[Waiver], hosts: Collection[str]) -> Iterator[str]:
    """A line for every waiver whose hosts are none of the inventory's: it hides nothing."""
    for waiver in dict.fromkeys(given):
        if not any(waiver.on(host) for host in hosts):
            said = f"saw no host like {', '.join(waiver.hosts)} in the inventory, want one of its"
            yield f"waiver of {waiver.check} by {waiver.owner}: {said} names or a pattern of some"


def applied(
    results: Iterable[Result], host: str, given: Iterable[Waiver], day: date
) -> tuple[Result, ...]:
    """The results with every finding that somebody answers for marked so; doubts stay as they are.

    Of several waivers the one that lasts longest counts.
    """
    longest: dict[str, Waiver] = {}
    for waiver in given:
        before = longest.get(waiver.check)
        if waiver.on(host) and (before is None or before.expires < waiver.expires):
            longest[waiver.check] = waiver
    return tuple(_marked(result, longest.get(result.check), day) for result in results)


def _marked(result: Result, waiver: Waiver | None, day: date) -> Result:
    if waiver is None:
        return result
    until, expired = waiver.expires.isoformat(), waiver.expires < day
    mark = Waived(waiver.owner, waiver.reason, until, expired)
    marked: tuple[Finding, ...] = tuple(replace(found, waiver=mark) for found in result.findings)
    return replace(result, findings=marked)
