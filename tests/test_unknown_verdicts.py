"""A probe that fails turns no verdict into a better one, and touches no check but its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Sections
from pyinfra_nvml.model.finding import Level, Result, Status
from pyinfra_nvml.model.unknown import Unknown
from tests import recordings
from tests.failures import failures

RECORDED = sorted(path.parent.name for path in recordings.NODES.glob("*/recording.txt"))
WORDS = {"timed out", "Permission denied", "not understood"}
# Where it cannot be seen whether a container has lost its device, it is told what it may lose.
MAY_LOSE = ("device-exposure", "container_devices.walk")


@cache
def verdicts(node: str) -> dict[str, Result]:
    return _judged(recordings.sections(node))


def _judged(sections: Sections) -> dict[str, Result]:
    state = Node.judged(sections)
    assert not isinstance(state, Unknown), state
    return {result.check: result for result in judge(state)}


def _kinds(result: Result) -> Counter[tuple[Level, str]]:
    """How many findings of each level there are, by the kind of their subject.

    A container is called by its id where its name is not known.
    """
    return Counter((found.level, found.subject.partition(" ")[0]) for found in result.findings)


def faults(before: Result, after: Result, probe: str) -> Iterator[str]:
    """What a failed probe may not do to a check's verdict."""
    if after == before:
        return
    doubts = set(after.doubts) - set(before.doubts)
    if before.status in (Status.FOUND, Status.UNKNOWN):
        if after.status not in (Status.FOUND, Status.UNKNOWN):
            yield f"{before.status.value} became {after.status.value}"
    elif after.status is not before.status and not doubts and before.status is Status.OK:
        yield f"ok became {after.status.value} without a doubt"
    if not doubts and _kinds(before) - _kinds(after):
        yield f"went without a doubt: {dict(_kinds(before) - _kinds(after))}"
    if (after.check, probe) != MAY_LOSE and _kinds(after) - _kinds(before):
        yield f"found of a sudden: {dict(_kinds(after) - _kinds(before))}"


@pytest.mark.parametrize("node", RECORDED)
def test_no_verdict_gets_better(node: str) -> None:
    base = recordings.sections(node)
    wrong = []
    for probe in Node.probes:
        failed = failures(probe, base[probe.name]) if probe.name in base else {}
        for word in failed.keys() & WORDS:
            after = _judged({**base, probe.name: failed[word]})
            for check, before in verdicts(node).items():
                told = faults(before, after[check], probe.name)
                wrong += [f"{check}, {probe.name} {word}: {fault}" for fault in told]
    assert not wrong, "\n".join(wrong)
