"""Pasted texts beside what they show; and every symptom, that a text shows it."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyinfra_nvml.audit.catalogue import check_entries
from pyinfra_nvml.explain import command as explain
from pyinfra_nvml.explain.pasted import pasted_lines, tail
from pyinfra_nvml.explain.recognise import Recognised, recognise
from pyinfra_nvml.explain.symptom import Kind, Symptom, symptoms
from pyinfra_nvml.model.finding import Area

ROOT = Path(__file__).parents[1]
TEXTS = Path(__file__).parent / "explain"


def cases() -> list[Path]:
    return sorted(TEXTS.glob("*.txt"))


@cache
def shown(path: Path) -> tuple[Recognised, ...]:
    return recognise(tuple(pasted_lines(path.read_bytes())))


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.stem)
def test_text(path: Path) -> None:
    case: dict[str, Any] = yaml.safe_load(path.with_suffix(".yaml").read_text())
    found = shown(path)
    assert [one.symptom.id for one in found] == case["found"]
    for one in found:
        for name, value in case.get("told", {}).get(one.symptom.id, {}).items():
            assert one.told[name] == value, one.told


@cache
def every_line() -> tuple[str, ...]:
    return tuple(line.text for path in cases() for line in pasted_lines(path.read_bytes()))


@pytest.mark.parametrize("symptom", symptoms(), ids=lambda symptom: symptom.id)
def test_every_pattern_has_a_line_that_it_is_for(symptom: Symptom) -> None:
    text = every_line()
    for pattern in (*symptom.match, *symptom.unless, *symptom.also.values()):
        assert any(pattern.search(line) for line in text), pattern.pattern
    for word in symptom.words:
        assert word == word.lower()
        assert any(word in line.lower() for line in text), word
    own = [one for path in cases() for one in shown(path) if one.symptom is symptom]
    assert own, "no text of tests/explain shows it"


@pytest.mark.parametrize("symptom", symptoms(), ids=lambda symptom: symptom.id)
def test_every_symptom_says_what_to_look_at_and_what_not_to_do(symptom: Symptom) -> None:
    assert set(symptom.checks) <= {entry.id for entry in check_entries()}
    places = [list(Area).index(area) for area in symptom.look]
    assert places == sorted(places), "look: versions, then cgroup, then rest"
    assert places
    assert symptom.do and symptom.avoid and symptom.why
    assert symptom.reference.startswith(("https://", "checks.md#"))
    assert "please" not in f"{symptom.title}{symptom.why}{symptom.do}{symptom.avoid}".lower()


def test_faults_come_first_in_the_order_to_look() -> None:
    order = [(one.kind, one.area) for one in symptoms()]
    assert order == sorted(
        order, key=lambda one: (list(Kind).index(one[0]), list(Area).index(one[1]))
    )


def test_of_a_long_text_the_end_is_read() -> None:
    start = b"Failed to initialize NVML: Unknown Error\n"
    noise = b"x" * 99 + b"\n"
    data, cut = tail(io.BytesIO(start + noise * 99), cap=9900)
    assert cut and len(data) == 9900
    assert not recognise(tuple(pasted_lines(data)))
    data, cut = tail(io.BytesIO(noise * 3 + start))
    assert not cut and recognise(tuple(pasted_lines(data)))


def test_a_long_line_is_looked_at_piece_by_piece() -> None:
    for before in (0, 4080, 4090, 100_000):
        text = tuple(
            pasted_lines(b"y" * before + b" Failed to initialize NVML: Unknown Error" + b"z" * 9999)
        )
        assert max(len(line.text) for line in text) <= 4096
        assert [one.symptom.id for one in recognise(text)] == ["nvml-unknown-error"], before


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{" * 100_000, b'{"a": "b"', b"\xff\xfe\x00", b"[1]\n{}"]
)
def test_nothing_in_it_is_no_fault_of_the_reader(data: bytes) -> None:
    assert recognise(tuple(pasted_lines(data))) == ()


def run(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "pyinfra_nvml.explain.command", *words],
        cwd=ROOT,
        input=given,
        capture_output=True,
        check=False,
    )


def test_the_command_reads_a_file_an_argument_and_its_input(tmp_path: Path) -> None:
    text = (TEXTS / "mismatch.txt").read_text()
    file = tmp_path / "log"
    file.write_text(text)
    told = [run(str(file)), run("--text", text), run("-", given=text.encode())]
    told.append(run(given=text.encode()))
    assert {done.returncode for done in told} == {explain.RECOGNISED}
    assert len({done.stdout for done in told}) == 1
    assert "told  NVML library 550.107" in told[0].stdout.decode()
    assert "[driver-skew]" in told[0].stdout.decode()
    document = json.loads(run("--json", given=text.encode()).stdout)
    assert document[0]["symptom"] == "driver-library-mismatch"
    assert document[0]["told"] == {"NVML library": "550.107"}


def test_the_command_says_that_it_recognised_nothing_and_where_to_look() -> None:
    done = run("--text", "all is well")
    assert done.returncode == explain.NOTHING
    assert b"nothing recognised in 1 line" in done.stdout
    assert done.stdout.index(b"versions") < done.stdout.index(b"Cgroup Driver")


def test_the_command_names_what_it_could_not_read(tmp_path: Path) -> None:
    for words in ([str(tmp_path / "none")], [str(tmp_path)], ["--text", "x", "file"], ["--bad"]):
        done = run(*words)
        assert done.returncode == explain.USAGE, words
        assert done.stderr and b"Traceback" not in done.stderr


def test_a_line_of_a_log_steers_no_terminal() -> None:
    done = run("--text", "\u202eFailed to initialize NVML: Unknown Error \u009b2J")
    assert b"\\u202e" in done.stdout and b"\\x9b" in done.stdout


def test_the_page_shows_what_the_command_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs/explain.md").read_text()
    commands, example = re.findall(r"```(?:sh)?\n(.*?)```", page, re.S)[:2]
    log = tmp_path / "log"
    log.write_text("$ nvidia-smi\n" + (TEXTS / "mismatch.txt").read_text().partition("\n")[2])
    for command in commands.splitlines():
        here = command.replace("FILE", str(log)).replace("docker logs trainer", f"cat {log}")
        here = here.replace(".venv/bin/python", sys.executable)
        done = subprocess.run(["sh", "-c", here], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == explain.RECOGNISED, done.stderr
        if "--text" not in command:
            for line in example.splitlines():
                for piece in line.split("..."):
                    assert piece.strip(" ,") in done.stdout, piece
