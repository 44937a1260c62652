"""The wheel has all that the tool runs with, and nothing of its tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pyinfra_nvml.operations import own_wheel
from pyinfra_nvml.operations.own_wheel import ROOT

KEPT_OUT = ("tests", "docs", "bench")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel of a copy of this checkout, in which an operator keeps a fleet."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    source.mkdir()
    for folder in (*own_wheel.FOLDERS, *KEPT_OUT):
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=_not_copied)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    (source / "inventories" / "our_fleet.py").write_text('hosts = ["gpu-17.internal"]\n')
    (source / "inventories" / "group_data" / "gpu.py").write_text("_sudo = True\n")
    there = set(source.iterdir())
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(argv, cwd=source, capture_output=True, check=True, timeout=120)
    assert set(source.iterdir()) == there
    with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def _not_copied(folder: str, names: list[str]) -> set[str]:
    # Of the tests a few files are enough to see whether any gets in.
    inside = Path(folder).name in KEPT_OUT
    return {name for name in names if name == "__pycache__" or (inside and "." not in name)}


def test_every_file_of_the_tool_is_in_it(packed: set[str]) -> None:
    own = {path.relative_to(ROOT).as_posix() for path in own_wheel._files()}
    single = {"pyproject.toml", "README.md", "LICENSE"}
    own = {name.removeprefix("pyinfra_nvml/") for name in own - single}
    for kind in ("explain/symptoms/", "operations/node/", "templates/", "deploys/"):
        assert [name for name in own if name.startswith(kind)], kind
    assert sorted({f"pyinfra_nvml/{name}" for name in own} - packed) == []


def test_nothing_else_is(packed: set[str]) -> None:
    top = {name.split("/")[0] for name in packed}
    assert {name for name in top if not name.endswith(".dist-info")} == {"pyinfra_nvml"}
    folders = {name.split("/")[1] for name in packed if name.count("/") > 1}
    assert folders - {"licenses"} == set(own_wheel.FOLDERS) - {"pyinfra_nvml"}
    assert [
        name for name in packed if "our_fleet" in name or name.endswith("group_data/gpu.py")
    ] == []
