"""What the tool needs is declared, what is declared is needed, and the lock has a hash of all."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from pyinfra_nvml.operations import own_wheel
from tests.versions.page import bounds

ROOT = own_wheel.ROOT
OWN = {*own_wheel.FOLDERS, "__future__", "tomllib", *sys.stdlib_module_names}
# The proof is in the import: each of them is taken up by a line of the tool.
DECLARED = {
    name.lower(): Version(lowest)
    for name, lowest in map(str.split, bounds((ROOT / "pyproject.toml").read_text()))
}
# Modules that are called otherwise than what PyPI has them under.
NAMED = {
    "prometheus_client": "prometheus-client",
    "pyinfra_cli": "pyinfra",
    "typing_extensions": "typing-extensions",
    "yaml": "pyyaml",
}
LOCKS = ("requirements.lock", "requirements-dev.lock")


def imported() -> set[str]:
    """The distributions that files of the tool import, by the names of PyPI."""
    paths = [path for folder in own_wheel.FOLDERS for path in (ROOT / folder).rglob("*.py")]
    modules = {module for path in paths for module in _modules(path)} - OWN
    return {NAMED.get(module, module) for module in modules}


def _modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def locked(name: str) -> dict[str, list[str]]:
    """Each requirement of a lock, ``rich==15.0.0``, with its hashes."""
    held: dict[str, list[str]] = {}
    for line in (ROOT / name).read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            of = held.setdefault(line.rstrip(" \\"), [])
        of += re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line)
    return held


def test_what_is_imported_is_declared_and_nothing_else_is() -> None:
    assert imported() == set(DECLARED)


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_dependency_has_its_hashes(name: str) -> None:
    assert len(locked(name)) > 20
    assert [each for each, hashes in locked(name).items() if not hashes] == []


def test_the_lock_holds_what_is_declared() -> None:
    versions = {
        found[1]: Version(found[2])
        for each in locked("requirements.lock")
        if (found := re.match(r"([\w-]+)==(\S+)", each))
    }
    assert [name for name, lowest in DECLARED.items() if versions[name] < lowest] == []


def test_both_locks_hold_the_same() -> None:
    assert set(locked(LOCKS[0])) <= set(locked(LOCKS[1]))


def test_every_dependency_is_explained() -> None:
    table = (ROOT / "docs" / "dependencies.md").read_text().partition("## ")[0]
    told = re.findall(r"^\| ([\w-]+) \|", table, re.MULTILINE)
    names = {name.lower() for name in told} - {"dependency", "---"}
    assert names == set(DECLARED)
