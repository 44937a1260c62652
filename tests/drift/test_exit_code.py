"""The exit code: 1 is a finding alone, whatever becomes of the output or of the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pyinfra_nvml.drift import command
from tests.drift.place import ROOT, Place


def ended(place: Place, output: int, *more: str) -> tuple[int, str]:
    done = subprocess.run(
        place.words("--last", *more),
        cwd=place.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
    )
    return done.returncode, done.stderr


def test_output_that_nobody_takes_is_no_finding_and_hides_none(place: Place) -> None:
    assert place.run()[0] == 1
    clean = ("--level", "broken")
    reader, writer = os.pipe()
    os.close(reader)
    assert ended(place, writer, *clean) == (0, "")
    assert ended(place, writer) == (1, "")
    os.close(writer)
    full = os.open("/dev/full", os.O_WRONLY)
    told = "standard output: saw No space left on device, want the report shown\n"
    assert ended(place, full, *clean) == (2, told)
    assert ended(place, full) == (1, told)
    os.close(full)
    # A name that is none, in a file that somebody wrote in.
    audit = place.results / "audit.json"
    whole = json.loads(audit.read_text())
    whole["nodes"][0]["node"] = None
    audit.write_text(json.dumps(whole))
    code, said = place.run("--last")
    assert (code, "audit.json: saw None as nodes[0].node, want a valid string" in said) == (
        2,
        True,
    ), said
    audit.write_text(json.dumps({**whole, "nodes": 7}))
    assert place.run("--last", "--limit", "gpu-01")[0] == 2


@pytest.mark.parametrize(("scheme", "code"), [("plain", 2), ("nagios", 3), ("npd", 2)])
def test_a_program_that_stumbles_could_not_tell(
    scheme: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: Any) -> None:
        raise RuntimeError("of a kind that nobody foresaw")

    monkeypatch.setattr(command, "run_audit", stumble)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as told:
        command.main(["fleet.py", "--results", str(tmp_path), "--exit-scheme", scheme])
    assert told.value.code == code
