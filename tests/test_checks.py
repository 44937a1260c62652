"""Every check: answers of a node beside the verdict expected of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pyinfra_nvml.audit.catalogue import check_entries, judge
from pyinfra_nvml.model.unknown import plain
from pyinfra_nvml.settings.policy import Policy
from tests import described, recordings

CASES = Path(__file__).parent / "checks"


def cases() -> list[Path]:
    return sorted(CASES.glob("*/*.yaml"))


@pytest.mark.parametrize("path", cases(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_verdict(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    answers = described.answers(case.get("described", {})) | case.get("answers", {})
    node = recordings.node(case["node"], answers, case.get("cluster"))
    check = path.parent.name.replace("_", "-")
    policy = Policy(**{name: tuple(value) for name, value in case.get("policy", {}).items()})
    result = next(result for result in judge(node, policy) if result.check == check)
    want = case["want"]
    assert result.status.value == want["status"], result
    findings = want.get("findings", [])
    assert len(result.findings) == len(findings), result.findings
    for found, wanted in zip(result.findings, findings, strict=True):
        assert_holds(plain(found), wanted)
    doubts = [f"{doubt.subject}: {doubt.reason}" for doubt in result.doubts]
    for text in want.get("doubts", []):
        assert any(text in doubt for doubt in doubts), doubts


def assert_holds(found: Any, wanted: dict[str, str]) -> None:
    """Level and repair are equal; the texts of the case are contained."""
    for field, value in wanted.items():
        if field in ("level", "repair"):
            assert found[field] == value, found
        else:
            assert value in str(found[field]), found


@pytest.mark.parametrize("entry", check_entries(), ids=lambda entry: entry.id)
def test_every_check_has_its_cases_and_its_page(entry: Any) -> None:
    names = {path.stem for path in (CASES / entry.id.replace("-", "_")).glob("*.yaml")}
    assert len(names) >= 3, names
    assert any("unreadable" in name or "unknown" in name for name in names), names
    summary = entry.page.strip().splitlines()[0]
    assert summary.endswith(".") and len(summary) <= 100, summary
    for heading in ("Bad:", "Good:", "Repair:"):
        assert heading in entry.page, f"{entry.id}: no {heading}"
