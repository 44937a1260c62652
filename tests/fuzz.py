"""Whatever the bytes of a node's answers: every parser ends in a value, never in an exception.

.venv/bin/python -m tests.fuzz [PARSER ...]
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Section, Sections
from pyinfra_nvml.model.unknown import plain
from tests.answers import AnySource, name, seen, sources

settings.register_profile(
    "slow",
    max_examples=10_000,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
CODES = (0, 0, 0, 0, 1, 2, 3, 124, 126, 127, 137, None)
NUMBERS = ("9" * 5000, "-1", "0x1f", "٣", "²", "1e999", "00000000000000000000", "4294967296")
PIECES = (
    "[" * 20_000,
    "{" * 3000,
    "\x00",
    "\ud800",
    "\u2028",
    "\r",
    " ",
    "\n\n",
    ": ",
    "=",
    '"',
    "?",
)

Change = Callable[[str, random.Random], str]


def answers(source: AnySource) -> st.SearchStrategy[Sections]:
    """Answers to the probes of a fact: any text, a real answer, or one with some bytes changed."""
    return st.fixed_dictionaries(
        {}, optional={each.name: _answer(each.name) for each in source.probes}
    )


def check(source: AnySource, sections: Sections) -> None:
    """The parser ends, and its value can be printed."""
    json.dumps(plain(source.parse(sections)))


def fuzz(source: AnySource) -> int:
    """How many examples the parser was given, as many as the profile has."""
    count = 0

    @given(answers(source))
    def run(sections: Sections) -> None:
        nonlocal count
        count += 1
        check(source, sections)

    run()
    return count


def _answer(probe: str) -> st.SearchStrategy[Section]:
    real = seen(probe) or (Section(probe, 0),)
    made = st.builds(
        Section,
        st.just(probe),
        st.sampled_from(CODES),
        st.text(max_size=200),
        st.text(max_size=40),
        st.booleans(),
    )
    changed = st.builds(_changed, st.sampled_from(real), st.integers(0, 1 << 32))
    return st.one_of(changed, changed, changed, made)


def _changed(real: Section, seed: int) -> Section:
    """The answer with up to four changes; none is one of them."""
    chance = random.Random(seed)  # noqa: S311 - the bytes of a test
    out, err = real.out, real.err
    for _ in range(chance.randrange(5)):
        change = chance.choice(CHANGES)
        if chance.randrange(6):
            out = change(out, chance)
        else:
            err = change(err, chance)
    rc = real.rc if chance.randrange(3) else chance.choice(CODES)
    return Section(real.name, rc, out, err, cut=not chance.randrange(20))


def _cut(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] if chance.randrange(2) else text[at:]


def _line_twice(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return "\n".join(lines)


def _line_gone(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


def _swapped(text: str, chance: random.Random) -> str:
    if len(text) < 2:
        return text
    one, other = sorted(chance.sample(range(len(text)), 2))
    return text[:one] + text[other] + text[one + 1 : other] + text[one] + text[other + 1 :]


def _number(text: str, chance: random.Random) -> str:
    places = list(re.finditer(r"\d+", text))
    if not places:
        return text
    place = chance.choice(places)
    return text[: place.start()] + chance.choice(NUMBERS) + text[place.end() :]


def _piece(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(PIECES) + text[at:]


CHANGES: tuple[Change, ...] = (_cut, _line_twice, _line_gone, _swapped, _number, _number, _piece)


def main(words: list[str]) -> int:
    """Fuzz every parser, or those named, and print how many examples each took."""
    settings.load_profile("slow")
    # Node's parser calls all the others, which have their own examples.
    asked = [one for one in sources() if (name(one) in words if words else one is not Node)]
    failed, total, start = [], 0, time.monotonic()
    for source in asked:
        try:
            count = fuzz(source)
        except Exception as fault:  # noqa: BLE001 - the other parsers have their turn all the same
            failed.append(name(source))
            notes = "\n".join(getattr(fault, "__notes__", ()))
            print(f"{name(source)}: {type(fault).__name__}: {fault}\n{notes}"[:3000], flush=True)
        else:
            total += count
            print(f"{name(source)}: {count} examples", flush=True)
    spent = time.monotonic() - start
    print(f"parsers: {len(asked)}, examples: {total}, failed: {len(failed)}, seconds: {spent:.0f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
