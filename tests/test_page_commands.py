"""Every command that a page shows is run by a test: here, or by one that takes it from its page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs import mission_page
from tests.typed import typed

ROOT = Path(__file__).parents[1]
ROWS: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/page_commands.yaml").read_text())
PAGES = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
# Tests that read the commands of these pages from the page.
READ_BY = {
    "drift.md": "drift/test_runs.py",
    "driver.md": "lab/test_driver.py",
    "explain.md": "test_explain.py",
    "inventories.md": "lab/test_inventories.py",
    "issue-48.md": "lab/test_readme.py",
    "kubernetes-signals.md": "test_signal_docs.py",
    "kubernetes.md": "test_kubectl.py",
    "metrics.md": "test_signal_docs.py",
    "mig.md": "monitor/test_deploy.py",
    "schedule.md": "lab/test_schedule.py",
    "slurm.md": "lab/test_schedule.py",
}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def commands(text: str) -> list[str]:
    """The page's sh blocks, a line each, and the commands of this checkout in its text."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    # A variable's line belongs to the one behind it.
    whole = re.sub(r"^(\w+=\$\(.*\))\n", r"\1; ", "".join(blocks), flags=re.MULTILINE)
    lines = whole.replace("\\\n", " ").splitlines()
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    inline = re.findall(r"`((?:CHECKOUT/)?\.venv/bin/[^`]*)`", prose)
    return list(dict.fromkeys(re.sub(r" +", " ", line) for line in [*lines, *inline] if line))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_command_of_the_page_is_run(page: str) -> None:
    run = {row["command"] for row in ROWS if row["page"] == page}
    # tests/test_mission.py and tests/lab/test_readme.py run all of theirs.
    run |= {row["command"] for row in mission_page.rows()}
    run |= set(commands((ROOT / "README.md").read_text()))
    run |= {each for other in READ_BY for each in commands(PAGES[other])}
    left = [each for each in commands(PAGES[page]) if each.replace("\\|", "|") not in run]
    if page in READ_BY:
        assert page in (ROOT / "tests" / READ_BY[page]).read_text()
    else:
        assert left == []


def test_every_page_and_command_above_is_there() -> None:
    assert [page for page in READ_BY if not commands(PAGES[page])] == []
    gone = [row for row in ROWS if row["command"] not in commands(PAGES[row["page"]])]
    assert gone == []


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_target_of_make_is_one(page: str) -> None:
    named = re.findall(r"`make (?:[A-Z]+=\S+ )*([a-z-]+)", PAGES[page])
    assert set(named) <= TARGETS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['page']}-{row['exit']}")
def test_the_command_does_what_the_page_says(row: dict[str, Any]) -> None:
    words = {**row.get("instead", {}), "CHECKOUT": str(ROOT)}
    line = f"{row['command']} {row.get('more', '')}"
    for word, here in words.items():
        line = line.replace(word, here)
    done = typed("sh", "-c", line)
    assert done.returncode == row["exit"], done.stdout + done.stderr
    assert row["shows"] in done.stdout + done.stderr


def test_the_cure_shows_its_plan_as_it_is_printed() -> None:
    nodes = ("@fake/trixie_exposed", "@fake/gpu_good")
    words = ["inventories/recorded.py", "deploys/fix_cgroup.py", "--dry", "--diff"]
    limits = [word for node in nodes for word in ("--limit", node)]
    done = typed(ROOT / ".venv/bin/pyinfra", *words, *limits)
    plan, nothing = re.findall(r"```text\n(.*?)```", PAGES["cure.md"], re.DOTALL)
    printed = {re.sub(r"^ *\[[^]]+\] *", "", line) for line in done.stderr.splitlines()}
    shown = [re.sub(r"^\[gpu-02\] *", "", line) for line in (plan + nothing).splitlines()]
    assert len(shown) > 10
    assert [line for line in shown if line not in printed] == []
