"""Recorded nodes hold nothing private, are whole, and say where they were seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from facts.node import Node
from tests import recordings
from tests.record import clean, private

RECORDED = sorted(recordings.NODES.glob("*/recording.txt"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_nothing_private_slipped(path: Path) -> None:
    assert private(path.read_text()) == set()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_the_recording_is_whole_and_names_its_origin(path: Path) -> None:
    first, *lines = path.read_text().splitlines()
    assert first.startswith(("# seen on ", "# made up after ")), first
    assert lines[-1].startswith("@end ")
    answered = set(recordings.sections(path.parent.name))
    assert answered == {probe.name for probe in Node.probes}


def test_what_is_private_is_replaced() -> None:
    line = (
        '|{"ID":"57de798d-6778-4ca1-ad01-bd50933c1910","HttpProxy":"http://u:p@proxy","Name":"gpu7",'
        '"Labels":[],"Addr":"10.1.2.3"}'
    )
    assert private(line)
    assert private(clean([line])[0]) == set()
    assert "gpu7" not in clean([line])[0]
