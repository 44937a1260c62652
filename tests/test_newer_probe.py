"""A new fact needs no recording: those that lack its probe load, and it is unknown on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.node import SOURCES, Node, NodeState
from pyinfra_nvml.facts.probe import Probe, Section, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.finding import Area, Result, Status, Undetermined
from pyinfra_nvml.model.unknown import Unknown
from tests import made_up, public_cases, recordings
from tests.record import save

PROBE = Probe("newer_fact.words", "echo word")
UNKNOWN = Unknown("newer_fact.words: not in this recording")
RECORDED = sorted(path.parent.name for path in recordings.NODES.glob("*/recording.txt"))


class NewerFact(Source[str]):
    probes = (PROBE,)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> str | Unknown:
        answer = section(sections, PROBE.name)
        return answer.trouble or answer.out


@pytest.fixture(autouse=True)
def node_with_a_newer_probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Node, "probes", (*Node.probes, PROBE))
    assert PROBE.command in Node().command()
    yield


@pytest.mark.parametrize("name", RECORDED)
def test_it_is_unknown_on_every_recorded_node(name: str) -> None:
    assert NewerFact.judged(recordings.sections(name)) == UNKNOWN
    assert isinstance(recordings.node(name), NodeState)


@pytest.mark.parametrize("path", made_up.MADE_UP, ids=lambda path: path.parent.name)
def test_the_recordings_of_made_up_nodes_stay_as_they_are(path: Path) -> None:
    assert made_up.text(path) == made_up.recording(path).read_text()


def test_it_is_unknown_in_a_case_that_does_not_answer_it() -> None:
    assert NewerFact.judged(recordings.sections("gpu_good", {})) == UNKNOWN
    told = recordings.sections("gpu_good", {PROBE.name: {"out": "word"}})
    assert NewerFact.judged(told) == "word"


def test_it_has_no_part_in_the_verdict_of_a_recording() -> None:
    case = public_cases.cases()[0]
    assert case.right
    results = judge(recordings.node("gpu_good"))
    newer = Result(
        "newer", Area.DEVICES, Status.UNKNOWN, doubts=(Undetermined("node", UNKNOWN.reason),)
    )
    compared = recordings.compared((*results, newer))
    assert compared == (*results, replace(newer, status=Status.OK, doubts=()))


def test_a_doubt_of_another_reason_stays() -> None:
    doubts = (Undetermined("node", UNKNOWN.reason), Undetermined("node", "timed out"))
    (told,) = recordings.compared([Result("newer", Area.DEVICES, Status.UNKNOWN, doubts=doubts)])
    assert (told.status, told.doubts) == (Status.UNKNOWN, doubts[1:])


def test_an_older_answer_is_recorded_as_it_came(tmp_path: Path) -> None:
    path = save(recordings.recording("gpu_good")[1:], "older", "Debian 13", place=tmp_path)
    assert path.read_text().splitlines()[-1] == recordings.recording("gpu_good")[-1]


def test_every_field_of_a_node_is_read_by_the_fact_beside_it() -> None:
    node = recordings.node("gpu_good")
    answers = recordings.sections("gpu_good")
    assert all(getattr(node, name) == source.judged(answers) for name, source in SOURCES.items())
    assert PROBE.name not in {probe.name for source in SOURCES.values() for probe in source.probes}
    assert isinstance(answers[PROBE.name], Section)
