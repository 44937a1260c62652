"""The nodes that were made up: their recordings are current, their verdicts the ones expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.settings.policy import Policy
from tests import made_up, recordings


def name(path: Path) -> str:
    return path.parent.name


@pytest.mark.parametrize("path", made_up.MADE_UP, ids=name)
def test_the_recording_is_current(path: Path) -> None:
    assert made_up.recording(path).read_text() == made_up.text(path), "run: -m tests.made_up"


@pytest.mark.parametrize("path", made_up.MADE_UP, ids=name)
def test_the_node_has_these_findings_and_no_other(path: Path) -> None:
    said = made_up.case(path)
    policy = Policy(**{setting: tuple(value) for setting, value in said.get("policy", {}).items()})
    results = recordings.compared(judge(recordings.node(name(path)), policy))
    found = sorted(
        f"{result.check}: {finding.level.value}: {finding.subject}"
        for result in results
        for finding in result.findings
    )
    assert found == sorted(said["findings"])
    doubts = sorted({result.check for result in results if result.doubts})
    assert doubts == sorted(said.get("doubts", []))
