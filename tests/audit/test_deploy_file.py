"""The deploy file of a run, known to Python as a module."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import FrameType

import pytest

from audit import deploy_file

# As pyinfra_cli/util.py does it: compiled under its own name, run without a module.
_SOURCE = "import sys\nframe = sys._getframe()\n"


def frame_of(path: Path) -> FrameType:
    path.write_text(_SOURCE)
    run: dict[str, FrameType] = {}
    exec(compile(_SOURCE, str(path), "exec"), run)  # noqa: S102
    return run["frame"]


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, deploy_file.NAME, sys)


def test_inspect_finds_a_module_for_the_deploy(tmp_path: Path) -> None:
    frame = frame_of(tmp_path / "deploy.py")
    assert inspect.getmodule(frame) is None
    deploy_file.known(str(tmp_path / "deploy.py"))
    assert inspect.getmodule(frame) is sys.modules[deploy_file.NAME]
    assert inspect.getframeinfo(frame).code_context == ["frame = sys._getframe()\n"]


def test_a_run_without_a_file_is_left_as_it_is() -> None:
    deploy_file.known(None)
    assert sys.modules[deploy_file.NAME] is sys
