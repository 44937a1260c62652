"""The unit tests on every Python that is promised, with the newest and the oldest dependencies.

    python -m tests.versions

Writes docs/versions.md. Wants the Pythons on PATH; one that is not there is told as such.
Change nothing in the tree meanwhile: the tests read it. ``AT_ONCE=6`` tries more at a time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from operations.own_wheel import _FOLDERS, own_wheel

ROOT = Path(__file__).resolve().parent.parent
NEWEST, LOWEST = "newest", "lowest"
# The oldest dependencies on the oldest and the newest Python: those between have no other wheels.
TRIED = (
    ("3.10", LOWEST),
    ("3.10", NEWEST),
    ("3.11", NEWEST),
    ("3.12", NEWEST),
    ("3.13", LOWEST),
    ("3.13", NEWEST),
)
AT_ONCE = int(os.environ.get("AT_ONCE", "2"))
WORKS = "works"
SYMPTOM = "Failed to initialize NVML: Unknown Error\n"

_HEAD = """\
# Versions

The unit tests (all but those on real nodes) on every Python that is promised; written by
`make versions`, last on {day}. "newest" is what requirements.lock holds, installed with its hashes;
"lowest" the oldest that pyproject.toml allows of what the tool itself needs: {lowest}.

"installed" is the wheel in a virtual environment with nothing else than what the tool needs, in a
folder outside the checkout: `nvml-audit --help` and `nvml-explain` have answered there.

| Python | dependencies | tests | installed |
| --- | --- | --- | --- |
"""


def main() -> None:
    """Runs them; ends with 1 where one did not pass."""
    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(AT_ONCE) as pool:
        wheel = own_wheel(Path(home))
        rows = list(pool.map(lambda each: tried(wheel, *each), TRIED))
    (ROOT / "docs" / "versions.md").write_text(page(rows))
    sys.exit(any(row[4] for row in rows))


def page(rows: list[tuple[str, str, str, str, str]]) -> str:
    """docs/versions.md for what ``tried`` has returned."""
    day = datetime.now(timezone.utc).date().isoformat()
    head = _HEAD.format(day=day, lowest=", ".join(bounds()))
    return head + "".join(f"| {' | '.join(row[:4])} |\n" for row in rows)


def bounds() -> list[str]:
    """What pyproject.toml allows at the least: ``paramiko 3.5``."""
    listed = re.search(r"^dependencies = \[(.*?)^\]", _project(), re.MULTILINE | re.DOTALL)
    found = re.findall(r'"([\w-]+)>=([\d.]+)', listed[1] if listed else "")
    return [f"{name} {version}" for name, version in found]


def _project() -> str:
    return (ROOT / "pyproject.toml").read_text()


def tried(wheel: Path, number: str, which: str) -> tuple[str, str, str, str, str]:
    """Python, dependencies, the last line of the tests, what is installed, what is wrong."""
    python = shutil.which(f"python{number}")
    if python is None:
        return number, which, "not tried", "", "no such Python here"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if fault := _furnish(home, python, which):
            return number, which, "not tried", fault, fault
        installed = _installed(home, wheel)
        code, told = _tests(home)
    wrong = "tests" if code else "" if installed == WORKS else installed
    sys.stderr.write(f"Python {number}, {which}: {told}; installed: {installed}\n")
    return number, which, told, installed, wrong


def _furnish(home: Path, python: str, which: str) -> str | None:
    """Two virtual environments: for the tests, and with nothing else than the tool needs."""
    lowest = home / "lowest"
    steps: list[tuple[str, ...]] = [
        ("venv", "--quiet", "--python", python, str(home / name)) for name in ("own", "bare")
    ]
    newest = ("--require-hashes", "-r", "requirements.lock")
    # Tests start pyinfra many times, and it writes no bytecode (pyinfra_cli/main.py, 3.10).
    compiled = "--compile-bytecode"
    if which == NEWEST:
        steps += [_install(home, "own", compiled, *newest), _install(home, "bare", *newest)]
    steps.append(_install(home, "own", "--require-hashes", "-r", "requirements-dev.lock"))
    if which == LOWEST:
        form = ("--quiet", "--no-header", "--resolution", "lowest-direct", "--python", python)
        steps.append(("pip", "compile", *form, "pyproject.toml", "-o", str(lowest)))
        steps.append(_install(home, "own", compiled, "-r", str(lowest)))
        steps.append(_install(home, "bare", "-r", str(lowest)))
    return next((fault for step in steps if (fault := _uv(*step))), None)


def _install(home: Path, name: str, *what: str) -> tuple[str, ...]:
    return ("pip", "install", "--quiet", "--python", str(home / name / "bin/python"), *what)


def _tests(home: Path) -> tuple[int, str]:
    python = [str(home / "own/bin/python"), "-m"]
    _run([*python, "compileall", "-q", *_FOLDERS], ROOT)
    argv = [*python, "pytest", "-q", "--ignore=tests/lab", "-p", "no:cacheprovider"]
    with (home / "told").open("w") as told_to:
        done = subprocess.run(argv, cwd=ROOT, stdout=told_to, stderr=told_to, check=False)
    said = (home / "told").read_text()
    if done.returncode:
        sys.stderr.write(f"{said[-4000:]}\n")
    told = (said.strip().splitlines() or ["nothing"])[-1]
    return done.returncode, re.sub(r" in [\d.]+s.*", "", told).strip("= ")


def _installed(home: Path, wheel: Path) -> str:
    if fault := _uv(*_install(home, "bare", "--no-deps", str(wheel))):
        return fault
    (home / "said").write_text(SYMPTOM)
    for words in (["nvml-audit", "--help"], ["nvml-explain", "said"]):
        done = _run([str(home / "bare/bin" / words[0]), *words[1:]], home)
        if done.returncode or not done.stdout:
            return f"{words[0]}: saw {(done.stderr or 'nothing').strip().splitlines()[-1]}"
    return WORKS


def _uv(*words: str) -> str | None:
    """What uv said last, where it failed."""
    done = _run([str(Path(sys.executable).with_name("uv")), *words], ROOT)
    if not done.returncode:
        return None
    said = done.stderr.strip().splitlines() or ["nothing"]
    return f"uv {words[0]}: {next((x for x in said if x.startswith('error')), said[-1])}"


def _run(argv: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    # The checkout itself must not be what is imported by the installed command.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(argv, cwd=place, env=own, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
