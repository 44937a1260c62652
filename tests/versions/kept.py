"""What the rows have come to, in a directory, so that an ended run is gone on with."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tests.versions.row import Result, Row


def log(folder: Path, row: Row) -> Path:
    """Where all goes that is said while the row is tried."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{row}.log"


def keep(folder: Path, row: Row, result: Result) -> None:
    """Puts it in the place of an earlier one."""
    (folder / f"{row}.json").write_text(json.dumps(asdict(result), indent=1) + "\n")


def result(folder: Path, row: Row, commit: str) -> Result | None:
    """What is kept of this row at this commit; what cannot be read was never kept."""
    try:
        found = Result(**json.loads((folder / f"{row}.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.commit == commit else None


def passed(folder: Path, row: Row, commit: str) -> bool:
    """Whether it need not be tried again."""
    found = result(folder, row, commit)
    return found is not None and found.passed
