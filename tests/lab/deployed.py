"""pyinfra itself, as an operator starts it, on nodes of the lab."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """One run of pyinfra: exit code, what it printed, and the report it wrote."""

    code: int
    text: str
    report: dict[str, Any]

    def node(self, name: str) -> dict[str, Any]:
        """The report's part on one node."""
        return next(node for node in self.report["nodes"] if node["node"] == name)

    def findings(self, name: str) -> list[tuple[str, str, str]]:
        """Check, level and subject of everything found on a node."""
        return [
            (check["check"], finding["level"], finding["subject"])
            for check in self.node(name)["checks"]
            for finding in check["findings"]
        ]


def unknown(facts: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Everything in a report's facts that could not be told: where it stands, and why."""
    if isinstance(facts, dict):
        for key, value in facts.items():
            below = f"{path}.{key}".lstrip(".")
            yield from [(path, value)] if key == "unknown" else unknown(value, below)
    elif isinstance(facts, list):
        for place, value in enumerate(facts):
            yield from unknown(value, f"{path}[{place}]")


def run(inventory: Path, deploy: str, *words: str, limit: float = 240) -> Outcome:
    """Run a deploy on an inventory from the checkout, as ``pyinfra INVENTORY deploys/DEPLOY``."""
    report = inventory.parent / "report.json"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "pyinfra"),
            str(inventory),
            f"deploys/{deploy}",
            *words,
            "--data",
            f"report_json={report}",
        ],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit,
        env={**os.environ, "PYINFRA_PROGRESS": "off", "COLUMNS": "150"},
    )
    written = json.loads(report.read_text()) if report.exists() else {"nodes": []}
    return Outcome(done.returncode, done.stdout, written)
