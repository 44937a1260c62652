"""The wheel has all that the tool runs with, and nothing of its tests."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

from operations.own_wheel import ROOT
from tests.lab import requirements

FOLDERS = ("facts", "checks", "audit", "operations", "deploys", "inventories", "templates")
KEPT_OUT = ("tests", "docs", "bench")
# setuptools makes wheels by itself from here on; before, it wants the package wheel.
ITSELF = Version("70.1")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def setuptools_lacking() -> str | None:
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    if Version(version) >= ITSELF:
        return None
    return f"setuptools: saw {version}, want {ITSELF} or newer: make test sets it up"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel of a copy: setuptools leaves build/ behind."""
    if lacking := setuptools_lacking():
        if requirements.required():
            pytest.fail(lacking, pytrace=False)
        pytest.skip(lacking)
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    for folder in (*FOLDERS, *KEPT_OUT):
        shutil.copytree(ROOT / folder, source / folder, ignore=_not_copied)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    argv = [sys.executable, "-c", BUILD, str(place)]
    subprocess.run(argv, cwd=source, capture_output=True, check=True, timeout=120)
    with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def _not_copied(folder: str, names: list[str]) -> set[str]:
    # Of the tests a few files are enough to see whether any gets in.
    inside = Path(folder).name in KEPT_OUT
    return {name for name in names if name == "__pycache__" or (inside and "." not in name)}


def _of_an_operator(name: str) -> bool:
    return name.startswith("inventories/") and not name.endswith(".py")


def test_every_file_of_the_tool_is_in_it(packed: set[str]) -> None:
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    own = {str(path.relative_to(ROOT)) for path in paths if path.is_file()}
    own = {name for name in own if "__pycache__" not in name and not _of_an_operator(name)}
    for kind in ("audit/explain/symptoms/", "operations/node/", "templates/", "deploys/"):
        assert [name for name in own if name.startswith(kind)], kind
    assert sorted(own - packed) == []


def test_nothing_else_is(packed: set[str]) -> None:
    others = {name.split("/")[0] for name in packed} - set(FOLDERS)
    assert {name for name in others if not name.endswith(".dist-info")} == set()
