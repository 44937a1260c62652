"""What pyinfra gets of each inventory, with its settings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyinfra.api import State
from pyinfra.context import ctx_state
from pyinfra_cli.inventory import make_inventory

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["ssh_config", "kubernetes", "ansible"])
@pytest.mark.usefixtures("alone")
def test_plain_pyinfra_takes_the_inventory(
    name: str, config: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """As ``pyinfra inventories/NAME.py`` loads it, with the settings of group_data/all.py."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NVML_SSH_CONFIG", config)
    monkeypatch.setenv("NVML_SSH_HOSTS", "gpu-*")
    monkeypatch.setenv("NVML_ANSIBLE_INVENTORY", str(ROOT / "tests/ansible/fleet.ini"))
    if name == "kubernetes":
        monkeypatch.setenv("NVML_KUBECONFIG", str(request.getfixturevalue("cluster")))
    monkeypatch.setattr("pyinfra_cli.util.PYTHON_CODES", {})
    with ctx_state.use(State()):
        inventory = make_inventory(f"inventories/{name}.py", cwd=str(ROOT))
    hosts = {host.name: host.data for host in inventory}
    assert hosts
    assert {data.get("batch_size") for data in hosts.values()} == {10}
    if name == "ansible":
        assert [host.name for host in inventory.get_group("mig")] == ["mig-a", "mig-b"]
        assert hosts["gpu02"].get("ssh_user") == "admin"
    elif name == "kubernetes":
        assert hosts["gpu-01"].get("kubernetes_node") == "gpu-01"
    else:
        assert hosts["gpu-1"].get("ssh_config_file") == config


def test_a_refusal_is_one_line_for_who_runs_pyinfra() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pyinfra", "inventories/ssh_config.py", "deploys/audit.py", "--dry"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "NVML_SSH_HOSTS"},
        timeout=120,
        check=False,
    )
    said = re.sub(r"\x1b\[[0-9;]*m", "", ran.stderr + ran.stdout)
    assert ran.returncode == 1
    assert "ssh_config: saw no pattern, want some like 'gpu-*'" in said
    assert "Traceback" not in said
