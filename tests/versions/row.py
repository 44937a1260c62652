"""One Python with one set of dependencies: the tests, and the installed tool."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from pyinfra_nvml.operations.own_wheel import FOLDERS
from tests.versions.process import NoResult, run

ROOT = Path(__file__).resolve().parents[2]
NEWEST, LOWEST = "newest", "lowest"
WORKS = "works"
SYMPTOM = "Failed to initialize NVML: Unknown Error\n"
# Where tests look for the commands of the pages.
OWN = "tree/.venv"
UV = Path(sys.executable).with_name("uv")
SETUP_LIMIT = 900
"""Seconds for one step of uv: 60 wheels over a slow line."""
TESTS_LIMIT = 3600
"""Seconds for the tests: 250 of one core, and a machine that has other work."""
_STUCK = 300
"""Seconds after which pytest writes where a test is that has not ended."""


@dataclass(frozen=True)
class Row:
    """A Python and which dependencies; as text ``3.13-lowest``."""

    number: str
    which: str

    @override
    def __str__(self) -> str:
        return f"{self.number}-{self.which}"


@dataclass(frozen=True)
class Result:
    """What a row has come to: ``2561 passed``, ``works``, and the tests that failed."""

    commit: str
    tests: str
    installed: str
    failed: list[str]
    passed: bool


# The oldest dependencies on the oldest and the newest Python: those between have no other wheels.
ROWS = (
    Row("3.10", LOWEST),
    Row("3.10", NEWEST),
    Row("3.11", NEWEST),
    Row("3.12", NEWEST),
    Row("3.13", LOWEST),
    Row("3.13", NEWEST),
)


def python_of(number: str) -> Path | None:
    """The Python of this number here; None where none answers."""
    words = ("python", "find", "--system", "--no-project", "--no-python-downloads", number)
    done = subprocess.run([UV, *words], capture_output=True, text=True, check=False, timeout=60)
    return Path(done.stdout.strip()) if not done.returncode else None


def git(*words: str) -> str:
    """What git says of the checkout; raises ``NoResult`` where it has no commit."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoResult(f"git {words[0]}: saw {done.stderr.strip()}, want a checkout with a commit")
    return done.stdout


def tried(row: Row, python: Path, commit: str, log: Path) -> Result:
    """Tries it; raises ``NoResult`` where it could not be tried to its end."""
    log.write_text("")
    with tempfile.TemporaryDirectory(prefix="versions.") as folder:
        home = Path(folder)
        tree = home / "tree"
        git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(tree))
        git("-C", str(tree), "checkout", "--quiet", "--detach", commit)
        _furnish(home, python, row.which, log)
        code = _tests(home, log)
        said = log.read_text().strip().splitlines()
        told = re.sub(r" in [\d.]+s.*", "", said[-1]).strip("= ")
        installed = _installed(home, log)
    failed = [line for line in said if line.startswith(("FAILED ", "ERROR "))]
    return Result(commit, told, installed, failed, code == 0 and installed == WORKS)


def _furnish(home: Path, python: Path, which: str, log: Path) -> None:
    """Two virtual environments: for the tests, and with nothing else than the tool needs."""
    lowest = home / "lowest"
    steps: list[tuple[str, ...]] = [
        ("venv", "--quiet", "--python", str(python), str(home / name)) for name in (OWN, "bare")
    ]
    newest = ("--require-hashes", "-r", "requirements.lock")
    # Tests start pyinfra many times, and it writes no bytecode (pyinfra_cli/main.py, 3.10).
    compiled = "--compile-bytecode"
    if which == NEWEST:
        steps += [_install(home, OWN, compiled, *newest), _install(home, "bare", *newest)]
    steps.append(_install(home, OWN, "--require-hashes", "-r", "requirements-dev.lock"))
    if which == LOWEST:
        form = ("--quiet", "--no-header", "--resolution", "lowest-direct", "--python", str(python))
        steps.append(("pip", "compile", *form, "pyproject.toml", "-o", str(lowest)))
        steps.append(_install(home, OWN, compiled, "-r", str(lowest)))
        steps.append(_install(home, "bare", "-r", str(lowest)))
    for step in steps:
        _uv(home, log, *step)


def _install(home: Path, name: str, *what: str) -> tuple[str, ...]:
    return ("pip", "install", "--quiet", "--python", str(home / name / "bin/python"), *what)


def _uv(home: Path, log: Path, *words: str) -> None:
    before = log.stat().st_size
    if run([str(UV), *words], home / "tree", log, SETUP_LIMIT):
        said = log.read_text()[before:].strip().splitlines() or ["nothing"]
        told = next((line for line in said if line.startswith("error")), said[-1])
        want = "want it done (another index: UV_DEFAULT_INDEX)"
        raise NoResult(f"uv {' '.join(words[:2])}: saw {told}, {want}; see {log}")


def _tests(home: Path, log: Path) -> int:
    python = [str(home / OWN / "bin/python"), "-m"]
    run([*python, "compileall", "-q", *FOLDERS], home / "tree", log, SETUP_LIMIT)
    form = ("-q", "--ignore=tests/lab", "-p", "no:cacheprovider")
    stuck = ("-o", f"faulthandler_timeout={_STUCK}")
    code = run([*python, "pytest", *form, *stuck], home / "tree", log, TESTS_LIMIT)
    # 1: they ran, and some failed (https://docs.pytest.org/en/stable/reference/exit-codes.html).
    if code not in (0, 1):
        saw = f"exit {code}" if code > 0 else f"signal {-code}, from somewhere else"
        raise NoResult(f"pytest: saw {saw}, want 0 or 1; see {log}")
    return code


def _installed(home: Path, log: Path) -> str:
    _uv(home, log, *_install(home, "bare", "--no-deps", str(home / "tree")))
    (home / "said").write_text(SYMPTOM)
    for name, word in (("nvml-audit", "--help"), ("nvml-explain", "said")):
        before = log.stat().st_size
        code = run([str(home / "bare/bin" / name), word], home, log, 60)
        if code or log.stat().st_size == before:
            return f"{name}: saw exit {code}, want 0 and an answer"
    return WORKS
