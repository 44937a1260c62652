"""The cases from public threads: the whole node is judged, and its plan made."""

from __future__ import annotations

from typing import Any

import pytest

from pyinfra_nvml.model.unknown import plain
from tests import case_words, cases_page
from tests.private import private
from tests.public_cases import PLACE, Case, cases
from tests.test_checks import assert_holds

SETTLED = ("reporter", "maintainer", "merged PR", "vendor document", "open", "outcome not seen")
FIELDS = {"source", "seen", "completed", "settled_by", "base", "verdict", "repair", "want"}
MORE = {"node", "answers", "policy"}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_the_verdict_and_the_repair_are_right(case: Case) -> None:
    judged = case.judged
    told = [f"{result.check}: {finding}" for result, finding in judged.findings]
    told += [f"{result.check}: {result.doubts}" for result in judged.results if result.doubts]
    plan = case.planned(judged)
    assert case_words.word(judged) == case.said["verdict"], told
    assert case_words.repair(judged, plan) == case.said["repair"], (plan.refusals, told)
    refused = [str(refusal) for refusal in plan.refusals]
    for text in case.said["want"].get("refused", []):
        assert any(text in one for one in refused), refused


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_it_has_these_findings_and_no_other(case: Case) -> None:
    want, judged = case.said["want"], case.judged
    wanted: list[dict[str, Any]] = want.get("findings", [])
    assert [result.check for result, _ in judged.findings] == [one["check"] for one in wanted], [
        f"{result.check}: {finding}" for result, finding in judged.findings
    ]
    for (_, found), fields in zip(judged.findings, wanted, strict=True):
        assert_holds(plain(found), {key: fields[key] for key in fields if key != "check"})
    unknown = sorted({result.check for result in judged.results if result.doubts})
    assert unknown == sorted(want.get("unknown", []))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_it_is_whole_and_says_where_it_comes_from(case: Case) -> None:
    assert FIELDS <= set(case.said) <= FIELDS | MORE
    assert case.said["source"].startswith("https://")
    assert case.said["settled_by"] in SETTLED
    for finding in case.said["want"].get("findings", []):
        assert {"check", "level", "subject", "repair"} <= set(finding), finding
    assert private((PLACE / f"{case.id}.yaml").read_text()) == set()


def test_the_page_of_cases_is_current() -> None:
    assert cases_page.PATH.read_text() == cases_page.page(), "run: make docs"
