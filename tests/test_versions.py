"""What `make versions` does where a row does not come to its end, or was tried before."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest

from tests.versions import __main__ as command
from tests.versions import kept, row
from tests.versions.page import page
from tests.versions.process import NoResult, run
from tests.versions.row import ROWS, Result

PASSED = Result("abc", "9 passed", "works", [], passed=True)
FAILED = Result("abc", "1 failed, 8 passed", "works", ["FAILED tests/a.py::b"], passed=False)


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    words = "(echo stands; exec sleep 60) >pipe & wait"
    with pytest.raises(NoResult, match=r"sh: saw no end in 1 s, want one; see .*log"):
        run(["sh", "-c", words], tmp_path, tmp_path / "log", 1)
    assert os.read(reader, 99) == b"stands\n"
    # The end of the pipe: nobody holds it open any more.
    assert select.select([reader], [], [], 10)[0]
    assert os.read(reader, 99) == b""
    os.close(reader)


def test_only_what_has_passed_at_this_commit_is_not_tried_again(tmp_path: Path) -> None:
    passed, failed, damaged, _ = ROWS[:4]
    kept.keep(tmp_path, passed, PASSED)
    kept.keep(tmp_path, failed, FAILED)
    (tmp_path / f"{damaged}.json").write_text('{"commit":')
    assert [kept.passed(tmp_path, each, "abc") for each in ROWS[:4]] == [True, False, False, False]
    assert not kept.passed(tmp_path, passed, "abd")
    assert kept.result(tmp_path, failed, "abc") == FAILED


def test_a_python_that_is_missing_is_told_before_any_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = tmp_path / "uv"
    answers.write_text(f'#!/bin/sh\ncase "$*" in *3.13) exit 2 ;; esac\necho {sys.executable}\n')
    answers.chmod(0o755)
    monkeypatch.setattr(row, "UV", answers)
    with pytest.raises(NoResult, match=r"^saw no Python 3\.13 that answers, want it on PATH: "):
        command._pythons(list(ROWS))
    assert command._pythons(list(ROWS[:2])) == {"3.10": Path(sys.executable)}


def test_a_row_that_nobody_promised_is_refused() -> None:
    with pytest.raises(NoResult, match=r"saw 3\.9-newest, want of 3\.10-lowest, "):
        command._asked(["3.9-newest"])


def test_the_page_tells_a_row_as_it_ended() -> None:
    project = 'dependencies = [\n    "pyinfra>=3.10,<3.11",\n    "rich>=13.9",\n]\n'
    told = page({ROWS[0]: PASSED, ROWS[5]: FAILED}, "abc", "2026-11-30", project)
    assert "on 2026-11-30, of commit abc." in told
    assert "needs: pyinfra 3.10, rich 13.9.\n" in told
    assert "| 3.10 | lowest | 9 passed | works |\n" in told
    assert "| 3.13 | newest | 1 failed, 8 passed | works |\n" in told
