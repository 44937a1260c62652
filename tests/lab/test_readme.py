"""Every command of the README, typed as it stands there, on a node with the fault."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.lab import containers, inventory
from tests.lab.deployed import ROOT
from tests.lab.node import Node
from tests.lab.session import Lab

# The exit code of each: an audit with a finding at risk is 1, and so make's is 2.
WANT = {
    "make audit": 0,
    "make demo": 0,
    "make audit INVENTORY=inventories/example.py": 2,
    ".venv/bin/pyinfra inventories/example.py deploys/audit.py --dry": 1,
    ".venv/bin/pyinfra inventories/example.py deploys/fix_cgroup.py --dry --diff": 0,
    ".venv/bin/pyinfra inventories/example.py deploys/fix_cgroup.py": 0,
    ".venv/bin/pyinfra inventories/example.py deploys/restore.py": 0,
    ".venv/bin/pyinfra @local fact pyinfra_nvml.facts.docker_engine.DockerEngine": 0,
}

ELSEWHERE = {"make lab", "make lab-down"}
"""Run by test_lifecycle.py: they would meet this session's own nodes here."""


def commands() -> list[str]:
    """The commands of the README, in its order: fenced ones, and those in the text."""
    text = (ROOT / "README.md").read_text()
    fenced = [
        line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.split("\n")
    ]
    inline = re.findall(
        r"`((?:make |\.venv/bin/)[^`]*)`", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    return list(dict.fromkeys([line for line in fenced if line] + inline))


def by_hand(node: Node) -> str:
    """What the commands of docs/issue-48.md say of trainer, without this tool."""
    page = (ROOT / "docs/issue-48.md").read_text()
    look = page.partition("```sh\n")[2].partition("```")[0].splitlines()
    return "; ".join((done.stdout + done.stderr).strip() for done in map(node.run, look))


def test_the_table_above_is_the_readme() -> None:
    assert set(commands()) - ELSEWHERE == set(WANT)


def test_every_command_does_what_the_readme_says(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("bookworm")
    try:
        containers.start(node, "trainer", "gpus")
        node.sh("systemctl daemon-reload")
        lost = by_hand(node)
        assert lost.startswith("systemd v2; ")
        assert lost.endswith(": Operation not permitted; DevicePolicy=strict")
        node.sh("docker restart --time 0 trainer")
        # The lab's nodes have no driver: an open that is let through ends so.
        assert by_hand(node) == lost.replace("Operation not permitted", "No such device or address")
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        for command in commands():
            if command in ELSEWHERE:
                continue
            done = subprocess.run(
                ["sh", "-c", command.replace("inventories/example.py", str(hosts))],
                cwd=ROOT,
                input="\n",  # fix_cgroup asks for Enter
                capture_output=True,
                text=True,
                timeout=300,
                env={**os.environ, "PYINFRA_PROGRESS": "off"},
            )
            said = f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            assert done.returncode == WANT[command], said
            assert "Traceback" not in said
            if command.endswith("fix_cgroup.py"):
                assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
                cured = by_hand(node)
                assert cured.startswith("cgroupfs v2; ")
                assert cured.endswith(": No such device or address; DevicePolicy=auto")
            assert containers.answer(node, "trainer") == "ENXIO"
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "systemd"
    finally:
        lab.stop(node)
