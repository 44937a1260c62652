"""What a text tells of a node, by the symptoms in its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyinfra_nvml.explain.pasted import Line
from pyinfra_nvml.explain.symptom import Symptom, symptoms

_AFTER = 3
"""Lines after the one that matched which may tell more of it (NVML names its version there)."""


@dataclass(frozen=True)
class Recognised:
    """A symptom in the text: its first line, how many show it, and what the lines name beside."""

    symptom: Symptom
    line: Line
    count: int
    told: Mapping[str, str]


def recognise(text: Sequence[Line]) -> tuple[Recognised, ...]:
    """Everything recognised: faults first, each kind in the order to look."""
    found: dict[str, Recognised] = {}
    # 8 MiB of a log take a second so, and seven where every line is held to every symptom.
    whole = "\n".join(line.text for line in text).lower()
    likely = [one for one in symptoms() if any(word in whole for word in one.words)]
    for place, line in enumerate(text if likely else ()):
        small = line.text.lower()
        for symptom in likely:
            if match := symptom.found(line.text, small):
                named = {k: v for k, v in match.groupdict().items() if v}
                told = {**named, **dict(_nearby(symptom, text[place : place + 1 + _AFTER]))}
                first = found.setdefault(symptom.id, Recognised(symptom, line, 0, {}))
                found[symptom.id] = replace(
                    first, count=first.count + 1, told={**told, **first.told}
                )
    return tuple(found[one.id] for one in symptoms() if one.id in found)


def _nearby(symptom: Symptom, text: Sequence[Line]) -> Iterator[tuple[str, str]]:
    for name, pattern in symptom.also.items():
        if found := next((match for line in text if (match := pattern.search(line.text))), None):
            yield name, found[1]
