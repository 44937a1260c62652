"""The six invariants of the design, on recorded nodes, cases and generated machines.

MACHINES says how many machines (500 as it comes, ``make invariants`` takes 20,000). What does not
hold yet stands in invariants_open.yaml; an entry that holds by now fails, and so does a new kind.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.invariants import programs, rules, sweep
from tests.invariants.rules import Violation
from tests.invariants.subjects import named


@cache
def violations() -> tuple[Violation, ...]:
    """What breaks them, of all nodes in one pass."""
    return tuple(sweep.sweep(sweep.COUNT))


def _unexpected(invariant: str) -> list[str]:
    """One line for each new kind: where it was seen first, and how often."""
    listed = {entry["kind"] for entry in sweep.entries() if entry["invariant"] == invariant}
    met = [one for one in violations() if one.invariant == invariant and one.kind not in listed]
    first = {one.kind: one for one in reversed(met)}
    count = [one.kind for one in met].count
    return [f"{k}, {count(k)} times: {v.subject}: {v.detail}" for k, v in first.items()]


def test_i1_a_deploy_acts_only_where_a_finding_carries_its_remedy() -> None:
    assert _unexpected("I1") == []


def test_i2_a_remedy_named_as_the_fix_is_not_refused_by_its_deploy() -> None:
    assert _unexpected("I2") == []


def test_i3_every_command_that_a_report_prints_exists_on_the_node() -> None:
    assert _unexpected("I3") == []


def test_i4_no_report_advises_what_another_line_advises_against() -> None:
    assert _unexpected("I4") == []


def test_i5_the_remedy_applied_makes_its_finding_disappear_and_no_new_one_come() -> None:
    assert _unexpected("I5") == []


def test_i6_unknown_stays_unknown() -> None:
    assert _unexpected("I6") == []


TEXTS = {
    "apt-mark hold libnvidia-compute-550": ["apt-mark"],
    "`docker restart app` gives it back until the next trigger": ["docker"],
    "dmesg | grep NVRM names the reason; take the node out of service": ["dmesg", "grep"],
    "build the module (dkms status; dkms autoinstall -k 6.8.0), then reboot": [
        "dkms",
        "dkms",
        "reboot",
    ],
    "take --exec-opt out of the unit, then run this again": [],
    "a sentence with `frobnicate all` in it": ["frobnicate"],
    "frobnicate --hard, then restart the containers": ["frobnicate"],
}


@pytest.mark.parametrize("text", TEXTS)
def test_the_commands_of_a_text(text: str) -> None:
    assert [words[0] for words in programs.commands(text)] == TEXTS[text]


@pytest.mark.parametrize("entry", sweep.entries(), ids=lambda e: f"{e['invariant']} {e['kind']}")
def test_what_is_open_fails_still(entry: dict[str, str]) -> None:
    wanted = (entry["invariant"], entry["kind"], entry["seen"])
    found = {(one.invariant, one.kind, one.subject) for one in violations()}
    if wanted not in found and entry["seen"].startswith("machine "):
        again = rules.broken(named(entry["seen"]), only=sweep.PROBES)
        found = {(one.invariant, one.kind, one.subject) for one in again}
    assert wanted in found, f"holds by now on {entry['seen']}: take the entry out"
