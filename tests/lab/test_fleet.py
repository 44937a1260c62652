"""A fleet: the canary first, a failure stops the rest, an unreachable host holds up nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import containers, deployed, inventory
from tests.lab.node import Node
from tests.lab.session import Lab
from tests.lab.test_cure import started
from tests.lab.test_fix_config import PICKY

NAMES = ("gpu-1", "gpu-2", "gpu-3", "gpu-4")


@pytest.fixture
def fleet(lab: Lab) -> Iterator[dict[str, Node]]:
    """Four nodes with an exposed container each."""
    nodes = {name: lab.fresh("trixie", hostname=name) for name in NAMES}
    for node in nodes.values():
        containers.start(node, "trainer", "gpus")
    yield nodes
    for node in nodes.values():
        lab.stop(node)


def write(path: Path, fleet: dict[str, Node], *more: str) -> Path:
    """An inventory of the fleet, in its order, with more host lines behind."""
    lines = [f"    ({name!r}, {inventory.host_data(node)!r})," for name, node in fleet.items()]
    path.write_text("\n".join(["gpu = [", *lines, *more, "]"]) + "\n")
    return path


def driver(node: Node) -> str:
    return node.sh("docker info --format '{{.CgroupDriver}}'")


def break_engine(node: Node) -> None:
    """Its dockerd will not start with cgroupfs."""
    node.sh("mkdir /usr/libexec/dockerd && mv /usr/sbin/dockerd /usr/libexec/dockerd/dockerd")
    node.write({"/usr/sbin/dockerd": PICKY})
    node.sh("chmod 0755 /usr/sbin/dockerd && systemctl restart docker && docker start trainer")


def test_a_failed_canary_leaves_the_rest_alone(tmp_path: Path, fleet: dict[str, Node]) -> None:
    break_engine(fleet["gpu-1"])
    before = {name: started(node) for name, node in fleet.items() if name != "gpu-1"}
    hosts = write(tmp_path / "inventory.py", fleet)
    fix = deployed.run(hosts, "fix_cgroup.py", "-y")
    assert fix.code == 1
    assert {driver(node) for node in fleet.values()} == {"systemd"}
    assert {name: started(fleet[name]) for name in before} == before
    for name in before:
        assert f"{name} · not touched: canary: saw gpu-1 fail, want at most 0" in fix.text


def test_a_failure_allowed_and_a_host_that_is_not_there(
    tmp_path: Path, fleet: dict[str, Node]
) -> None:
    break_engine(fleet["gpu-2"])
    gone = '    ("gone", {"ssh_hostname": "127.0.0.1", "ssh_port": 9}),'
    hosts = write(tmp_path / "inventory.py", fleet, gone)
    fix = deployed.run(
        hosts, "fix_cgroup.py", "-y", "--data", "max_failures=1", "--data", "batch_size=2"
    )
    assert fix.code == 1
    assert {name: driver(node) for name, node in fleet.items()} == {
        "gpu-1": "cgroupfs",
        "gpu-2": "systemd",
        "gpu-3": "cgroupfs",
        "gpu-4": "cgroupfs",
    }
    assert fix.node("gone")["no_answer"].startswith("could not be connected to: ")
    at = [fix.text.index(f"Starting operation: {t}") for t in ("canary: w", "batch 1 of 2: w")]
    assert at == sorted(at)
    assert "not touched" not in fix.text


def test_a_canary_that_refuses_proves_nothing(tmp_path: Path, fleet: dict[str, Node]) -> None:
    containers.start(fleet["gpu-1"], "batch", "none", "--rm")
    hosts = write(tmp_path / "inventory.py", fleet)
    fix = deployed.run(hosts, "fix_cgroup.py", "-y")
    assert fix.code == 1
    assert {driver(node) for node in fleet.values()} == {"systemd"}
    assert "canary: saw gpu-1 refused, want one that proves the cure" in fix.text


def test_a_canary_holds_the_others_back_in_any_order(
    tmp_path: Path, fleet: dict[str, Node]
) -> None:
    """pyinfra's --serial takes the hosts as they come: behind the canary nobody goes before it."""
    hosts = write(tmp_path / "inventory.py", {name: fleet[name] for name in ("gpu-1", "gpu-2")})
    words = ("--serial", "--data", "canary=gpu-2")
    fix = deployed.run(hosts, "fix_cgroup.py", "-y", *words)
    if driver(fleet["gpu-1"]) == "cgroupfs":
        assert driver(fleet["gpu-2"]) == "cgroupfs"
    else:
        assert fix.code == 1
        assert "saw gpu-2 not done yet" in fix.text
