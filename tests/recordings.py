"""Recorded nodes: the frames one exec printed, and cases that change single answers of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyinfra_nvml.facts.node import Node, NodeState
from pyinfra_nvml.facts.probe import (
    PROTOCOL,
    Probe,
    Section,
    Sections,
    read_frame,
)
from pyinfra_nvml.model.finding import Result, Status
from pyinfra_nvml.model.unknown import Unknown
from tests import clusters

NODES = Path(__file__).parent / "nodes"

BLANK = "blank"
"""A node that has nothing: every command is missing (exit 127)."""

NOT_RECORDED = "not in this recording"
"""What a probe answers that is newer than the recording."""


def recording(name: str) -> list[str]:
    """The lines that the exec printed on the recorded node."""
    return (NODES / name / "recording.txt").read_text().splitlines()


def sections(name: str, answers: dict[str, dict[str, Any]] | None = None) -> Sections:
    """The answers of a recorded node, with some of them replaced."""
    if name == BLANK:
        base: Sections = {probe.name: Section(probe.name, 127) for probe in Node.probes}
    else:
        base = {probe.name: missing(probe) for probe in Node.probes} | read_frame(recording(name))
    return replaced(base, answers or {})


def missing(probe: Probe) -> Section:
    """The answer of a recording to a probe that it lacks."""
    return Section(probe.name, None, lost=NOT_RECORDED)


def compared(results: Iterable[Result]) -> tuple[Result, ...]:
    """What the checks say, without their doubts for want of a probe that the recording lacks."""
    return tuple(_compared(one) for one in results)


def _compared(given: Result) -> Result:
    doubts = tuple(one for one in given.doubts if not one.reason.endswith(NOT_RECORDED))
    only = given.status is Status.UNKNOWN and not doubts
    return replace(given, doubts=doubts, status=Status.OK if only else given.status)


def replaced(base: Sections, answers: dict[str, dict[str, Any]]) -> Sections:
    """These answers, with some of them replaced."""
    base = dict(base)
    for probe, answer in answers.items():
        if probe not in {known.name for known in Node.probes}:
            raise KeyError(f"case: saw an answer for {probe!r}, want the name of a probe")
        rc = answer.get("rc", 0)
        base[probe] = Section(
            probe,
            None if rc == "hung" else rc,
            answer.get("out", ""),
            answer.get("err", ""),
            answer.get("cut", False),
        )
    return base


def node(
    name: str,
    answers: dict[str, dict[str, Any]] | None = None,
    cluster: dict[str, Any] | None = None,
) -> NodeState:
    """The facts of a recorded node, with some of its answers replaced, and its cluster's view."""
    state = Node.parse(sections(name, answers))
    if isinstance(state, Unknown):
        raise AssertionError(state.reason)
    return replace(state, cluster=clusters.node(cluster, state)) if cluster else state


def frames(answers: Sections) -> list[str]:
    """The lines that would read as these answers; one that a recording lacks has none."""
    answers = {name: one for name, one in answers.items() if one.lost != NOT_RECORDED}
    lines = [f"@node {PROTOCOL}"]
    for answer in answers.values():
        rc = "hung" if answer.rc is None else answer.rc
        lines.append(f"@{answer.name} rc={rc} cut={int(answer.cut)}")
        lines += [f"|{line}" for line in answer.out.split("\n")]
        lines += [f"!{line}" for line in answer.err.split("\n")]
    return [*lines, f"@end {len(answers)}"]
