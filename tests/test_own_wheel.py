"""What makes one version of the program another."""

from __future__ import annotations

import ast
import zipfile
from pathlib import Path

from pyinfra_nvml.operations import own_wheel
from pyinfra_nvml.operations.own_wheel import ROOT, content

FILES = {
    "pyinfra_nvml/reports/terminal.py": "1",
    "pyinfra_nvml/inventories/group_data/all.py": "audit_level = 'at risk'",
    "pyinfra_nvml-0.1.0.dist-info/RECORD": "sums of all the others",
}


def wheel(folder: Path, **other: str) -> str:
    """The content of a wheel in which some files are other ones; ``audit`` stands for the first."""
    names = {
        "audit": "pyinfra_nvml/reports/terminal.py",
        "settings": "pyinfra_nvml/inventories/group_data/all.py",
    }
    files = {**FILES, **{names[name]: text for name, text in other.items()}}
    path = folder / "a.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text + str(other) if name.endswith("RECORD") else text)
    return content(path)


def test_a_setting_makes_no_other_version(tmp_path: Path) -> None:
    assert wheel(tmp_path, settings="audit_level = 'broken'") == wheel(tmp_path)


def test_a_line_of_the_program_does(tmp_path: Path) -> None:
    assert wheel(tmp_path, audit="2") != wheel(tmp_path)
    assert wheel(tmp_path).startswith("pyinfra_nvml/reports/terminal.py ")


def test_what_goes_along_imports_no_inventory_that_stays_here() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in own_wheel._files()}
    modules = {f"pyinfra_nvml.{file.removesuffix('.py').replace('/', '.')}" for file in files}
    wanted = {
        node.module
        for file in files
        if file.startswith("inventories/") and file.endswith(".py")
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("pyinfra_nvml.")
    }
    assert wanted == {"pyinfra_nvml.fleet.transport"}
    assert wanted <= modules
