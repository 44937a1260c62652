"""The directory that each of these tests has to itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drift.place import FLEET, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "fleet.py").write_text(FLEET)
    return Place(tmp_path)
