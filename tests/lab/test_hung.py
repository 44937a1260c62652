"""Tools that hang and ignore TERM: the audit ends within its limits, and says what it lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyinfra_nvml.facts.node import Node as NodeFact
from pyinfra_nvml.facts.node_script import limit
from tests.lab import containers, deployed, inventory
from tests.lab.node import Node
from tests.lab.session import Lab

MARGIN = 10
"""Seconds for pyinfra's start, the connection, and a node that boots its neighbours."""
LIMIT = limit(NodeFact.probes) + MARGIN
HANGS = "#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 1000; done\n"
TOOLS = ("docker", "systemctl", "nvidia-smi")
# The probes that ask one of them; without a module of NVIDIA's, none asks nvidia-smi.
ASK = {
    "docker_engine.info",
    "docker_engine.unit",
    "docker_inspect.running",
    "engine_setup.ask",
    "fabric_manager.ask",
    "scopes.show",
    "systemd_manager.show",
}


# Docker's own words for a container, which `gpu_containers.unseen` says are missing.
DOCKERS = ("gpu_containers.containers[0].name", "gpu_containers.containers[0].inspected")


@pytest.fixture
def node(lab: Lab) -> Iterator[Node]:
    """A node with a container that is exposed."""
    made = lab.fresh("trixie")
    containers.start(made, "trainer", "gpus")
    yield made
    lab.stop(made)


def hang(node: Node) -> None:
    """Put programs that hang in the tools' places."""
    node.sh("for each in docker systemctl; do mv /usr/bin/$each /usr/libexec/; done")
    node.write({f"/usr/bin/{tool}": HANGS for tool in TOOLS})
    node.sh(f"chmod 0755 {' '.join(f'/usr/bin/{tool}' for tool in TOOLS)}")


def lost(before: object, after: object, path: str = "") -> Iterator[tuple[str, str]]:
    """The places where the facts differ, and the reason that stands there now."""
    if before == after:
        return
    if isinstance(after, dict) and set(after) == {"unknown"}:
        yield path, after["unknown"]
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            yield from lost(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif (
        before is None
        and isinstance(after, dict)
        and (parts := list(deployed.unknown(after, path)))
    ):
        # It was proven absent; now a part of it is not known to be.
        yield from parts
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from lost(one, other, f"{path}[{place}]")
    else:
        yield path, f"{str(before)[:60]} became {str(after)[:60]}"


def test_hung_tools_cost_their_limit_and_their_facts(node: Node, tmp_path: Path) -> None:
    hosts = inventory.write(tmp_path / "inventory.py", [node])
    before = deployed.run(hosts, "audit.py", "--dry", "-y")
    hang(node)
    start = time.monotonic()
    after = deployed.run(hosts, "audit.py", "--dry", "-y")
    spent = time.monotonic() - start
    print(f"audit with hung tools: {spent:.1f} s, want at most {LIMIT}")
    assert spent < LIMIT
    differs = dict(lost(before.node("trixie")["facts"], after.node("trixie")["facts"]))
    for path, reason in differs.items():
        print(f"{path}: {reason}")
    for path, reason in differs.items():
        assert path in DOCKERS or any(f"{probe}: timed out" in reason for probe in ASK), (
            path,
            reason,
        )
    told = {probe for probe in ASK for reason in differs.values() if probe in reason}
    assert told == ASK
    # What /proc tells stays told: the engine runs, and the container reaches its device.
    facts = after.node("trixie")["facts"]
    assert (
        facts["docker_engine"]["process"]
        == before.node("trixie")["facts"]["docker_engine"]["process"]
    )
    assert [n["answer"] for n in facts["gpu_containers"]["containers"][0]["nodes"]] == ["ENXIO"] * 2
    statuses = {check["check"]: check["status"] for check in after.node("trixie")["checks"]}
    assert statuses["cgroup-hierarchy"] == "ok"
    assert statuses["device-exposure"] == "unknown"


def test_a_dockerd_that_stands_still(node: Node, tmp_path: Path) -> None:
    """The socket takes the connection and nothing answers; the loss is seen without Docker."""
    hosts = inventory.write(tmp_path / "inventory.py", [node])
    node.sh("kill -STOP $(pidof dockerd)")
    start = time.monotonic()
    audit = deployed.run(hosts, "audit.py", "--dry", "-y")
    spent = time.monotonic() - start
    node.sh("kill -CONT $(pidof dockerd)")
    print(f"audit with a dockerd that stands still: {spent:.1f} s, want at most {LIMIT}")
    assert spent < LIMIT
    (found,) = [f for f in audit.findings("trixie") if f[0] == "device-exposure"]
    assert found[1] == "at risk"
    assert audit.node("trixie")["facts"]["docker_engine"]["info"] == {
        "unknown": "docker_engine.info: timed out"
    }
