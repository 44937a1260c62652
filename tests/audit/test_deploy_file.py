"""The deploy file of a run, known to Python as a module."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from pyinfra_nvml.fleet import controller_cpu

# As pyinfra_cli/util.py does it: compiled under its own name, run without a module.
_SOURCE = "import sys\nframe = sys._getframe()\n"


def frame_of(path: Path) -> FrameType:
    path.write_text(_SOURCE)
    run: dict[str, FrameType] = {}
    exec(compile(_SOURCE, str(path), "exec"), run)  # noqa: S102
    return run["frame"]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "deploy.py"
    sys.modules.pop(str(tmp_path / "deploy.py"), None)


def test_inspect_finds_a_module_for_the_deploy(path: Path) -> None:
    frame = frame_of(path)
    assert inspect.getmodule(frame) is None
    controller_cpu.register_deploy_file(str(path))
    assert inspect.getmodule(frame) is sys.modules[str(path)]
    assert inspect.getframeinfo(frame).code_context == ["frame = sys._getframe()\n"]


def test_it_is_found_by_the_name_that_pyinfra_was_given(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = path.parent / "real"
    real.mkdir()
    (path.parent / "link").symlink_to(real)
    monkeypatch.chdir(path.parent)
    frame = frame_of(Path("link/deploy.py"))
    controller_cpu.register_deploy_file("link/deploy.py")
    found = inspect.getmodule(frame)
    assert found is not None and found is sys.modules.pop(str(path.parent / "link/deploy.py"))


def test_each_file_of_a_run_has_its_own(path: Path) -> None:
    other = path.with_name("other.py")
    for _ in range(2):
        for each in (path, other):
            controller_cpu.register_deploy_file(str(each))
    assert inspect.getmodule(frame_of(path)) is sys.modules[str(path)]
    assert inspect.getmodule(frame_of(other)) is sys.modules.pop(str(other))


def test_a_run_without_a_file_is_left_as_it_is() -> None:
    before = dict(sys.modules)
    controller_cpu.register_deploy_file(None)
    assert sys.modules == before
