"""The commands of docs/metrics.md and docs/kubernetes-signals.md, as they stand there."""

from __future__ import annotations

import re
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.drift.command_line import parse_options
from tests.installed import program

ROOT = Path(__file__).parents[1]
TEXTFILE = "/var/lib/prometheus/node-exporter/pyinfra_nvml.prom"


def commands(page: str) -> list[list[str]]:
    """The words of each command in the page's sh blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [shlex.split(line) for line in lines]


def test_the_audit_with_a_textfile(tmp_path: Path) -> None:
    audit, copy, check = commands("metrics.md")
    assert audit[:3] == [".venv/bin/python", "-m", "pyinfra_nvml.drift"]
    asked = parse_options(
        [word.replace(str(Path(TEXTFILE).parent), str(tmp_path)) for word in audit[3:]]
    )
    assert asked.textfile == tmp_path / "pyinfra_nvml.prom"
    assert asked.interval == 3600
    rules = str(tmp_path / "rules.yml")
    subprocess.run([*copy[:-1], rules], cwd=ROOT, check=True)
    assert check[:3] == ["promtool", "check", "rules"]
    subprocess.run([program("promtool"), *check[1:3], rules], check=True, capture_output=True)


def test_the_script_is_put_on_a_node_and_asked(tmp_path: Path) -> None:
    put, ask = commands("kubernetes-signals.md")
    script = ask[0]
    assert f"dest={script}" in put
    assert ask[1:] == ["npd", "broken", TEXTFILE]
    there = {script: str(tmp_path / "nvml-signal.sh"), "inventories/example.py": "@local"}
    for old, new in there.items():
        put = [word.replace(f"dest={old}", f"dest={new}") if "=" in word else word for word in put]
        put = [new if word == old else word for word in put]
    done = subprocess.run(put, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    installed = tmp_path / "nvml-signal.sh"
    assert stat.S_IMODE(installed.stat().st_mode) == 0o755
    words = [str(installed), *ask[1:-1], "/nonexistent.prom"]
    asked = subprocess.run(words, capture_output=True, text=True, timeout=30)
    assert (asked.returncode, asked.stdout) == (2, "could not tell: no /nonexistent.prom\n")


@pytest.mark.parametrize("page", ["metrics.md", "kubernetes-signals.md"])
def test_what_the_pages_name_is_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    named = set(re.findall(r"`((?:templates|deploys|tests)/[\w./-]+)`", text))
    named |= {f"docs/{name}" for name in re.findall(r"\]\(([\w-]+\.md)\)", text)}
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
