"""What a pasted line can be a sign of: one file of explain/symptoms for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pyinfra_nvml.model.finding import Area

PLACE = Path(__file__).with_name("symptoms")


class Kind(str, Enum):
    """Whether a line is a fault, tells something of the node, or may be passed over."""

    FAULT = "fault"
    SIGN = "sign"
    HARMLESS = "harmless"


@dataclass(frozen=True)
class Symptom:
    """One thing that lines can tell.

    A line is looked at where one of ``words`` (small letters) stands in it; it is the symptom where
    a pattern of ``match`` is found and none of ``unless``. Named groups of ``match``, and ``also``
    in the line and the few after it, are told beside it. ``look`` says where to look next, by area.

    .. code:: python

        Symptom("driver-library-mismatch", title="the driver's kernel module and ...",
                kind=Kind.FAULT, area=Area.VERSIONS, checks=("driver-skew",), ...)
    """

    id: str
    title: str
    kind: Kind
    area: Area
    checks: tuple[str, ...]
    words: tuple[str, ...]
    match: tuple[re.Pattern[str], ...]
    unless: tuple[re.Pattern[str], ...]
    also: Mapping[str, re.Pattern[str]]
    why: str
    look: Mapping[Area, str]
    do: str
    avoid: str
    reference: str

    def found(self, line: str, small: str) -> re.Match[str] | None:
        """Where this line shows it; ``small`` is the line in small letters."""
        if not any(word in small for word in self.words):
            return None
        found = next((match for each in self.match if (match := each.search(line))), None)
        return None if found and any(each.search(line) for each in self.unless) else found


@cache
def symptoms() -> tuple[Symptom, ...]:
    """All of them: faults before signs before the harmless, each in the order to look."""
    areas, kinds = list(Area), list(Kind)
    found = [_symptom(path) for path in PLACE.glob("*.yaml")]
    found.sort(key=lambda one: (kinds.index(one.kind), areas.index(one.area), one.id))
    return tuple(found)


def _symptom(path: Path) -> Symptom:
    page: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Symptom(
        id=path.stem,
        title=page["title"],
        kind=Kind(page["kind"]),
        area=Area(page["area"]),
        checks=tuple(_listed(page.get("check", []))),
        words=tuple(page["words"]),
        match=tuple(_pattern(text) for text in page["match"]),
        unless=tuple(_pattern(text) for text in page.get("unless", [])),
        also={name: _pattern(text) for name, text in page.get("also", {}).items()},
        why=page["why"],
        look={Area(area): text for area, text in page["look"].items()},
        do=page["do"],
        avoid=page["avoid"],
        reference=page["reference"],
    )


def _listed(value: str | list[str]) -> Iterator[str]:
    yield from [value] if isinstance(value, str) else value


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
