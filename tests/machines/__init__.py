"""Machines that nobody recorded, made by family and seed: the frame that one exec prints there.

A family (families.yaml) says of which systems, engines and kubelets its machines are; the seed
draws one of them (draws.py), ``tests.described`` writes its answers. ``machine("el9", 7)`` is the
same machine in every run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Sections, read_frame
from tests import described, recordings
from tests.failures import failures
from tests.machines import draws

FAMILIES: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("families.yaml").read_text()
)

_BASE = "gpu_good"


@dataclass(frozen=True)
class Machine:
    """One machine; ``node`` is its description, ``unread`` the probes that failed there.

    .. code:: python

        Machine("el9", 7, {"system": {"name": "Rocky 9"}, ...}, {}, ("scopes.show",))
    """

    family: str
    seed: int
    node: dict[str, Any]
    answers: dict[str, dict[str, Any]]
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def frame(self) -> list[str]:
        """What the exec prints on it."""
        row = FAMILIES[self.family]
        differ = described.answers(self.node) | self.answers
        kept = tuple(row.get("keeps", ()))
        differ = {name: answer for name, answer in differ.items() if not name.startswith(kept)}
        found = recordings.replaced(dict(_base(row.get("base", _BASE))), differ)
        for probe in Node.probes:
            words = dict(self.unread)
            if probe.name in words and probe.name in found:
                ways = failures(probe, found[probe.name])
                found[probe.name] = ways.get(words[probe.name], found[probe.name])
        return recordings.frames(found)

    @property
    def sections(self) -> Sections:
        """The frame, as it is read again."""
        return read_frame(self.frame)


@cache
def _base(name: str) -> Sections:
    return recordings.sections(name)


def machine(family: str, seed: int) -> Machine:
    """The machine of this family that this seed draws."""
    chance = random.Random(f"{family} {seed}")  # noqa: S311 - a test's machines
    node, answers = draws.node(FAMILIES[family], chance)
    return Machine(family, seed, node, answers, tuple(_unread(chance)))


def machines(count: int) -> Iterator[Machine]:
    """So many machines, of every family in turn."""
    names = sorted(FAMILIES)
    return (machine(names[at % len(names)], at // len(names)) for at in range(count))


def _unread(chance: random.Random) -> Iterator[tuple[str, str]]:
    """On one machine in five some probes fail."""
    if chance.randrange(5):
        return
    for probe in chance.sample(Node.probes, chance.randint(1, 4)):
        yield probe.name, chance.choice(("timed out", "hung", "Permission denied"))
