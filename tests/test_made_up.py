"""The nodes that were made up: their recordings are current, their verdicts the ones expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.settings.policy import Wishes
from tests import made_up, recordings


def name(path: Path) -> str:
    return path.parent.name


@pytest.mark.parametrize("path", made_up.MADE_UP, ids=name)
def test_the_recording_is_current(path: Path) -> None:
    assert made_up.recording(path).read_text() == made_up.text(path), "run: -m tests.made_up"


@pytest.mark.parametrize("path", made_up.MADE_UP, ids=name)
def test_the_node_has_these_findings_and_no_other(path: Path) -> None:
    said = made_up.case(path)
    wishes = Wishes(**{knob: tuple(value) for knob, value in said.get("wishes", {}).items()})
    results = recordings.compared(judge(recordings.node(name(path)), wishes))
    found = sorted(
        f"{result.check}: {finding.level.value}: {finding.subject}"
        for result in results
        for finding in result.findings
    )
    assert found == sorted(said["findings"])
    doubts = sorted({result.check for result in results if result.doubts})
    assert doubts == sorted(said.get("doubts", []))
