"""The scheduled check on a real node: a fault between two runs, a waiver, the cure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab import containers, inventory
from tests.lab.deployed import ROOT
from tests.lab.session import Lab


@dataclass(frozen=True)
class Check:
    """One run of the command: its exit code, what it printed, its drift.json."""

    code: int
    text: str
    drift: dict[str, Any]

    @property
    def changes(self) -> list[tuple[str, str | None, str]]:
        return [(c["kind"], c["check"], c["subject"]) for c in self.drift["changes"]]


def run(hosts: Path, *words: str) -> Check:
    results = hosts.parent / "results"
    done = subprocess.run(
        [sys.executable, "-m", "pyinfra_nvml.drift", str(hosts), "--results", str(results), *words],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "150"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    print(done.stdout)
    return Check(done.returncode, done.stdout, json.loads((results / "drift.json").read_text()))


def test_a_fault_between_two_runs_is_drift_until_it_is_cured(lab: Lab, tmp_path: Path) -> None:
    node = lab.node("bookworm")
    hosts = inventory.write(tmp_path / "inventory.py", [node])
    lost = ("new finding", "device-loss", "container trainer")
    containers.start(node, "trainer", "gpus")
    try:
        accepted = run(hosts, "--accept", "--level", "broken")
        assert (accepted.code, accepted.drift["exit"]) == (0, 0), accepted.text
        node.sh("systemctl daemon-reload")
        fault = run(hosts, "--level", "broken")
        assert (fault.code, fault.drift["exit"]) == (1, 1), fault.text
        assert lost in fault.changes
        assert "bookworm · new finding: container trainer: none -> broken  [device-loss]" in (
            fault.text
        )
        assert run(hosts, "--last", "--level", "broken").code == 1
        item = {"check": "device-loss", "owner": "gpu-team", "reason": "known"}
        waivers = json.dumps([{**item, "expires": "2999-12-31"}])
        waived = run(hosts, "--level", "broken", "--data", f"waivers={waivers}")
        assert waived.code == 0, waived.text
        assert lost not in waived.changes
        assert waived.drift["waived"][0]["subject"] == "container trainer"
        node.sh("docker restart -t 0 trainer")
        cured = run(hosts, "--level", "broken")
        assert (cured.code, cured.changes) == (0, []), cured.text
    finally:
        containers.remove(node, "trainer")
