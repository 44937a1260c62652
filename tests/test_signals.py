"""What node-problem-detector and kured are told, by the script that they run, in three shells."""

from __future__ import annotations

import shutil
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyinfra_nvml.audit.verdict import Verdict, verdict
from tests import recordings
from tests.prometheus.fleet import REASON, audited, drifted, metrics, read, recorded

SCRIPT = Path(__file__).parents[1] / "templates/usr/local/lib/pyinfra-nvml/nvml-signal.sh"
CASES = Path(__file__).parent / "checks"
SHELLS = {"dash": ["dash"], "bash": ["bash"], "busybox": ["busybox", "sh"]}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    words = SHELLS[request.param]
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    return words


def told(
    node: str | Verdict,
    seconds_ago: float = 60,
    interval: float | None = 3600,
    reboot: str | None = None,
) -> str:
    """The textfile of one node, audited so long ago."""
    at = datetime.now(timezone.utc) - timedelta(seconds=seconds_ago)
    said = read([recorded(node) if isinstance(node, str) else node], at)
    name = node if isinstance(node, str) else node.node
    nodes = {name: {"status": "found", "level": None, "reboot": reboot}}
    return metrics(said, drifted(nodes=nodes, interval=interval))


def ask(shell: list[str], *words: object) -> tuple[int, str]:
    """Exit code and the one line that it prints."""
    done = subprocess.run(
        [*shell, str(SCRIPT), *map(str, words)], capture_output=True, text=True, timeout=30
    )
    assert done.stderr == ""
    assert done.stdout.endswith("\n")
    assert done.stdout.count("\n") == 1
    return done.returncode, done.stdout[:-1]


@pytest.fixture
def textfile(tmp_path: Path) -> Path:
    return tmp_path / "pyinfra_nvml.prom"


NPD: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("bookworm_lost", "broken", {}, 1, "broken: device-loss"),
    ("bookworm_lost", "at risk", {}, 1, "at risk: dev-char-links engine-driver"),
    ("forky_cgroupfs", "broken", {}, 0, "not broken"),
    ("forky_cgroupfs", "at risk", {}, 0, "not at risk"),
    ("gpu_good", "reboot", {}, 0, "no reboot wanted"),
    ("gpu_skew", "reboot", {"reboot": REASON}, 1, f"reboot: {REASON}"[:80]),
    ("gpu_skew", "reboot", {"reboot": 'say "x"} 1.0\n'}, 1, 'reboot: say \\"x\\"} 1.0\\n'),
    ("gpu_skew", "reboot", {"reboot": "é" * 90}, 1, "reboot: " + " " * 72),
    ("gpu_good", "broken", {"interval": 0.9e7}, 0, "not broken"),
    ("gpu_good", "broken", {"interval": None, "seconds_ago": 170_000}, 0, "not broken"),
]


@pytest.mark.parametrize(("node", "wanted", "given", "code", "text"), NPD)
def test_npd_is_told(
    shell: list[str],
    textfile: Path,
    node: str,
    wanted: str,
    given: dict[str, Any],
    code: int,
    text: str,
) -> None:
    textfile.write_text(told(node, **given))
    assert ask(shell, "npd", wanted, textfile) == (code, text)


def test_npd_is_told_what_is_unknown_and_never_that_it_is_well(
    shell: list[str], textfile: Path
) -> None:
    assert ask(shell, "npd", "broken", textfile)[0] == 2
    textfile.mkdir()
    assert ask(shell, "npd", "broken", textfile)[1].startswith("could not tell: cannot read /")
    textfile.rmdir()
    textfile.write_text("")
    assert ask(shell, "npd", "broken", textfile)[0] == 2
    textfile.write_text(told("gpu_good", seconds_ago=7300))
    code, text = ask(shell, "npd", "broken", textfile)
    assert code == 2
    assert text.startswith("could not tell: last audit 73")
    assert text.endswith(" s ago, want at most 7200")
    textfile.write_text(told("gpu_good", seconds_ago=-400))
    code, text = ask(shell, "npd", "broken", textfile)
    assert (code, text.startswith("could not tell: an audit ")) == (2, True)
    textfile.write_text(told("trixie_no_root"))
    unsure = "could not tell: device-loss engine-driver"
    code, text = ask(shell, "npd", "broken", textfile)
    assert (code, set(unsure.split()) <= set(text.split())) == (2, True)
    textfile.write_text(told("gpu_good").replace('node_answered{node="gpu_good"} 1.0', "") + "\n")
    assert ask(shell, "npd", "broken", textfile)[0] == 2
    for words in (("npd", "broken"), ("npd", "x", textfile), (), ("slurm", "broken", textfile)):
        assert ask(shell, *words)[0] == 2


def test_a_node_that_did_not_answer_and_a_whole_fleet_are_unknown(
    shell: list[str], textfile: Path
) -> None:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    away = {**audited(), "time": now}
    textfile.write_text(metrics(away, drifted()))
    code, text = ask(shell, "npd", "broken", textfile)
    assert (code, text) == (2, "could not tell: this node did not answer its audit")
    textfile.write_text(metrics({**audited("gpu_good"), "time": now}, drifted()))
    code, text = ask(shell, "npd", "broken", textfile)
    assert code == 2
    assert text.startswith("could not tell: 2 nodes in ")


def test_whether_a_reboot_is_wanted_can_be_unknown(shell: list[str], textfile: Path) -> None:
    lines = told("gpu_good").splitlines(keepends=True)
    textfile.write_text("".join(line for line in lines if "reboot_required{" not in line))
    assert ask(shell, "npd", "reboot", textfile)[0] == 2
    code, text = ask(shell, "kured", "/nonexistent", textfile)
    assert (code, text) == (2, "could not tell: whether the driver waits for a reboot")


def test_kured_is_told(shell: list[str], textfile: Path, tmp_path: Path) -> None:
    sentinel = tmp_path / "reboot-required"
    textfile.write_text(told("gpu_skew", reboot=REASON))
    assert ask(shell, "kured", sentinel, textfile) == (0, f"reboot: {REASON}")
    textfile.write_text(told("gpu_good"))
    assert ask(shell, "kured", sentinel, textfile) == (1, "no reboot wanted")
    sentinel.write_text("*** System restart required ***\n")
    kernel = f"reboot: {sentinel}: *** System restart required ***"
    assert ask(shell, "kured", sentinel, textfile) == (0, kernel)
    textfile.unlink()
    unsure = f"{kernel}; could not tell of the driver: no {textfile}"
    assert ask(shell, "kured", sentinel, textfile) == (0, unsure)
    sentinel.unlink()
    assert ask(shell, "kured", sentinel, textfile) == (2, f"could not tell: no {textfile}")


def test_kured_is_held_back_where_the_next_boot_has_no_driver(
    shell: list[str], textfile: Path, tmp_path: Path
) -> None:
    """A kernel was installed for which no nvidia module was built."""
    sentinel = tmp_path / "reboot-required"
    sentinel.write_text("*** System restart required ***\n")
    case = yaml.safe_load((CASES / "driver_skew" / "next_kernel_lacks_module.yaml").read_text())
    node = verdict("gpu-01", recordings.node(case["node"], case["answers"]))
    textfile.write_text(told(node))
    code, said = ask(shell, "kured", sentinel, textfile)
    assert code == 3
    assert said == "held back: driver-skew is at risk, the next boot may have no driver"
