"""Generated machines are such as a node could be: every parser reads them, every check judges."""

from __future__ import annotations

import pytest

from pyinfra_nvml.audit.verdict import verdict
from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_plan import plan_engine
from tests.failures import unknowns
from tests.machines import FAMILIES, machine


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_machine_is_read_and_judged(family: str) -> None:
    for seed in range(20):
        state = Node.judged(machine(family, seed).sections)
        assert not isinstance(state, Unknown), (family, seed, state)
        failed = [one for one in unknowns(state) if "its parser failed" in one.reason]
        assert not failed, (family, seed, failed)
        judged = verdict("machine", state)
        doubts = [doubt for result in judged.results for doubt in result.doubts]
        assert not [doubt for doubt in doubts if doubt.reason.startswith("check ")], (family, seed)
        plan_engine(state, "cgroupfs")


def test_a_machine_is_the_same_in_every_run() -> None:
    assert machine("el9", 7).frame == machine("el9", 7).frame
    assert machine("el9", 7).frame != machine("el9", 8).frame


def test_without_failed_probes_little_is_unknown() -> None:
    """What a description leaves out would show as values that could not be told."""
    for family in sorted(FAMILIES):
        plainly = [one for seed in range(20) if not (one := machine(family, seed)).unread]
        told = [one for one in plainly if "uid" not in one.node["system"]]
        for one in told:
            state = Node.judged(one.sections)
            odd = [x.reason for x in unknowns(state) if "not understood" in x.reason]
            assert not odd, (family, one.seed, odd)
