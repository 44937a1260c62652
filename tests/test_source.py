"""Facts that stand on others, read from one node's answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Section, Sections
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown

PROBE = Probe("below.words", "echo word", lines=r"word")
read: list[str] = []


class Below(Source[str]):
    probes = (PROBE,)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> str | Unknown:
        read.append("below")
        answer = sections[PROBE.name]
        return answer.trouble or answer.out


class Above(Source[tuple[str | Unknown, str | Unknown, Unknown | None]]):
    probes = (*Below.probes, Probe("above.more", "true", lines=r"more"))

    @override
    @classmethod
    def parse(cls, sections: Sections) -> tuple[str | Unknown, str | Unknown, Unknown | None]:
        return Below.judged(sections), Below.judged(sections), sections["above.more"].trouble


@pytest.fixture(autouse=True)
def nothing_read() -> Iterator[None]:
    read.clear()
    yield


def answers(more: str = "more") -> dict[str, Section]:
    return {
        PROBE.name: Section(PROBE.name, 0, "word"),
        "above.more": Section("above.more", 0, more),
    }


def test_a_value_is_read_once_from_a_nodes_answers() -> None:
    assert Above.judged(answers()) == ("word", "word", None)
    assert read == ["below"]


def test_two_nodes_are_read_apart() -> None:
    for _ in range(2):
        Above.judged(answers())
    assert read == ["below", "below"]


def test_an_answer_that_is_not_understood_is_lost_for_the_fact_that_says_so() -> None:
    lost = Unknown("above.more: not understood: 'less'")
    assert Above.judged(answers(more="less")) == ("word", "word", lost)


def test_what_a_fact_stands_on_may_be_lost() -> None:
    given = {**answers(), PROBE.name: Section(PROBE.name, 0, "noise")}
    value = Unknown("below.words: not understood: 'noise'")
    assert Above.judged(given) == (value, value, None)
