"""No answer of a node makes a parser raise; `make fuzz` gives each parser 10,000 of them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Sections
from pyinfra_nvml.facts.source import Answers
from tests.answers import AnySource, name, sources
from tests.fuzz import answers, fuzz

settings.register_profile(
    "few", max_examples=20, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("source", sources(), ids=name)
def test_every_answer_ends_in_a_value(source: AnySource) -> None:
    before = settings.get_current_profile_name()
    if before == "default":
        settings.load_profile("few")
    try:
        assert fuzz(source) > 0
    finally:
        settings.load_profile(before)


def test_no_parser_is_left_out() -> None:
    """Each field of the node's value has its parser among them."""
    probes = {probe.name for source in sources() if source is not Node for probe in source.probes}
    assert {probe.name for probe in Node.probes} <= probes


WHOLE = next(source for source in sources() if name(source) == "node.Node")


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers(WHOLE))
def test_a_fact_is_the_same_whatever_was_read_before_it(sections: Sections) -> None:
    """Facts that stand on others share what these have read, and leave it as it was."""
    shared = Answers(WHOLE.probes, sections)
    assert WHOLE.judged(shared) == WHOLE.judged(sections)
    for source in sources():
        assert source.judged(shared) == source.judged(sections), name(source)
