"""A file put in place at once, and what a killed process left of an earlier try."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pyinfra_nvml.audit.atomic_file import write_atomically


def test_what_a_killed_write_left_goes_with_the_next(tmp_path: Path) -> None:
    hours_ago = time.time() - 7200
    names = ("k3x_9q2b", "notes", "w8dk2m1c")
    left, foreign, running = (tmp_path / f".a[1].json.{name}" for name in names)
    for file in (left, foreign, running):
        file.write_text("half")
    for file in (left, foreign):
        os.utime(file, (hours_ago, hours_ago))
    write_atomically(tmp_path / "a[1].json", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([foreign, running, tmp_path / "a[1].json"])
    assert (tmp_path / "a[1].json").read_text() == "whole"
