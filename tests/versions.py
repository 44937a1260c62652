"""The unit tests on every Python that is promised, with the newest and the oldest dependencies.

    python -m tests.versions

Writes docs/versions.md. Wants the Pythons on PATH; one that is not there is told as such.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# uv's own words: the versions of requirements-dev.lock, or the lowest that pyproject.toml allows.
NEWEST, LOWEST = "newest", "lowest"
# Old dependencies go with old Pythons.
TRIED = (
    ("3.10", LOWEST),
    ("3.10", NEWEST),
    ("3.11", LOWEST),
    ("3.11", NEWEST),
    ("3.12", NEWEST),
    ("3.13", NEWEST),
)
AT_ONCE = 2

_HEAD = """\
# Versions

The unit tests (all but those on real nodes) on every Python that is promised; written by
`make versions`. "newest" is what requirements.lock holds, "lowest" the oldest that pyproject.toml
allows of what the tool itself needs.

| Python | dependencies | result |
| --- | --- | --- |
"""


def main() -> None:
    """Runs them; ends with 1 where one did not pass."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda each: tried(*each), TRIED))
    rows = [(*each, result) for each, result in zip(TRIED, results, strict=True)]
    lines = [" | ".join(row) for row in rows]
    (ROOT / "docs" / "versions.md").write_text(_HEAD + "".join(f"| {line} |\n" for line in lines))
    sys.exit(any("passed" not in row[2] or "failed" in row[2] for row in rows))


def tried(python: str, which: str) -> str:
    """The last line of the tests, or why there was none."""
    found = shutil.which(f"python{python}")
    if found is None:
        return "not tried: no such Python here"
    with tempfile.TemporaryDirectory() as home:
        own = Path(home) / "venv"
        if fault := _furnish(Path(home), own, found, which):
            return fault
        argv = [str(own / "bin/python"), "-m", "pytest", "-q", "--ignore=tests/lab"]
        done = subprocess.run(
            [*argv, "-p", "no:cacheprovider"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    if done.returncode:
        sys.stderr.write(f"{python}, {which}:\n{done.stdout[-4000:]}\n")
    told = (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1]
    return re.sub(r" in [\d.]+s.*", "", told).strip("= ")


def _furnish(home: Path, own: Path, python: str, which: str) -> str | None:
    lock = home / "lock"
    if which == LOWEST:
        _uv(
            "pip",
            "compile",
            "--quiet",
            "--no-header",
            "--resolution",
            "lowest-direct",
            "--python",
            python,
            "pyproject.toml",
            "-o",
            str(lock),
        )
    _uv("venv", "--quiet", "--python", python, str(own))
    target = ["--quiet", "--python", str(own / "bin/python")]
    fault = _uv("pip", "install", *target, "-r", "requirements-dev.lock")
    if which == LOWEST:
        fault = fault or _uv("pip", "install", *target, "-r", str(lock))
    return fault


def _uv(*words: str) -> str | None:
    """What uv said last, where it failed."""
    uv = str(Path(sys.executable).with_name("uv"))
    done = subprocess.run([uv, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return f"uv: {done.stderr.strip().splitlines()[-1]}" if done.returncode else None


if __name__ == "__main__":
    main()
