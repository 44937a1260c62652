"""Tries each Python with its dependencies, and writes docs/versions.md.

    make versions
    make versions ROWS=3.13-lowest
    AT_ONCE=6 make versions

What is committed is tried, in a clone: the tree may change meanwhile. The result of a row and all
that was said are kept in results/versions; the same command again tries only what has not passed at
this commit. The page is written once every row has a result.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from tests.versions import kept
from tests.versions.page import PATH, page
from tests.versions.process import ENDED, NoResult
from tests.versions.row import ROOT, ROWS, UV, Row, git, python_of, tried

KEPT = ROOT / "results" / "versions"
AT_ONCE = int(os.environ.get("AT_ONCE", "2"))


def main() -> None:
    """Ends with 1 where a row has not passed, or has no result."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        # nohup(1) has it ignored.
        if signal.getsignal(each) is signal.SIG_DFL:
            signal.signal(each, signal.default_int_handler)
    try:
        sys.exit(_run(_asked(sys.argv[1:])))
    except NoResult as reason:
        sys.exit(f"versions: {reason}")
    except KeyboardInterrupt:
        sys.exit("versions: ended early; what has passed is kept, the same command tries the rest")


def _asked(names: list[str]) -> list[Row]:
    known = {str(row): row for row in ROWS}
    if unknown := [name for name in names if name not in known]:
        raise NoResult(f"saw {', '.join(unknown)}, want of {', '.join(known)}")
    return [known[name] for name in names] or list(ROWS)


def _run(asked: list[Row]) -> int:
    if not UV.exists():
        raise NoResult(f"saw no {UV}, want uv there: make versions brings it")
    commit = git("rev-parse", "--short=12", "HEAD").strip()
    changed = git("status", "--porcelain", "--", ".", f":!{PATH.relative_to(ROOT)}").splitlines()
    if changed:
        _tell(f"{len(changed)} changed files are not committed, and not tried ({changed[0][3:]})")
    left = [row for row in asked if not kept.passed(KEPT, row, commit)]
    if len(left) < len(asked):
        _tell(f"{len(asked) - len(left)} of {len(asked)} have passed at {commit} before ({KEPT})")
    pythons = _pythons(left)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            list(pool.map(lambda row: _try(row, pythons[row.number], commit), left))
        finally:
            ENDED.set()
    _write(commit)
    return int(not all(kept.passed(KEPT, row, commit) for row in asked))


def _pythons(rows: list[Row]) -> dict[str, Path]:
    """All of them, before any is tried: to hear of one half an hour later is late."""
    found = {row.number: python_of(row.number) for row in rows}
    if none := [number for number, path in found.items() if not path]:
        words = " ".join(none)
        raise NoResult(
            f"saw no Python {', '.join(none)} that answers, want it on PATH: "
            f".venv/bin/uv python install {words} brings it; pyenv has it where PYENV_VERSION "
            "names it: PYENV_VERSION=3.10.13:3.13.0 make versions"
        )
    return {number: path for number, path in found.items() if path}


def _try(row: Row, python: Path, commit: str) -> None:
    log = kept.log(KEPT, row)
    _tell(f"{row}: 5 to 20 minutes, all that is said goes to {log}")
    try:
        result = tried(row, python, commit, log)
    except NoResult as reason:
        _tell(f"{row}: no result: {reason}")
        return
    kept.keep(KEPT, row, result)
    for line in result.failed:
        _tell(f"{row}: {line}")
    _tell(f"{row}: {result.tests}; installed: {result.installed}")


def _write(commit: str) -> None:
    results = {row: kept.result(KEPT, row, commit) for row in ROWS}
    known = {row: result for row, result in results.items() if result}
    if none := [str(row) for row in ROWS if row not in known]:
        _tell(f"no result at {commit} of {', '.join(none)}: {PATH.name} stays as it was")
        return
    day = datetime.now(timezone.utc).date().isoformat()
    PATH.write_text(page(known, commit, day, git("show", f"{commit}:pyproject.toml")))
    _tell(f"{PATH.relative_to(ROOT)} is written")


def _tell(words: str) -> None:
    sys.stderr.write(f"{words}\n")


if __name__ == "__main__":
    main()
