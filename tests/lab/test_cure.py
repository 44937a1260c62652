"""The whole way on each node: at risk, broken, cured, proven; a second run does nothing."""

from pathlib import Path

import pytest

from tests.lab import containers, deployed, inventory, triggers
from tests.lab.node import Node
from tests.lab.session import Lab

# The trigger that takes the GPU away on this node (test_ground_truth.py).
TRIGGERS = {"bookworm": "daemon_reload", "trixie": "set_property", "forky": "daemon_reload"}


def pull(node: Node, trigger: str, container: str) -> None:
    """Do to the container what took its GPU before; outside a scope only a reload is left."""
    if (
        trigger == "set_property"
        and node.run(f"systemctl is-active {containers.scope(container)}").code == 0
    ):
        triggers.set_property(node, container)
    triggers.daemon_reload(node)


def started(node: Node) -> str:
    """When the engine started, to the microsecond."""
    return node.sh("systemctl show docker.service -p ExecMainStartTimestampMonotonic --value")


@pytest.mark.parametrize("name", TRIGGERS)
def test_cure(lab: Lab, tmp_path: Path, name: str) -> None:
    """At risk before anything is lost; broken after the trigger; cured for good by the fix."""
    node = lab.fresh(name)
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        trainer = containers.start(node, "trainer", "gpus")
        assert containers.answer(node, "trainer") == "ENXIO"

        audit = deployed.run(hosts, "audit.py", "--dry", "-y")
        assert audit.code == 1, audit.text
        assert ("device-exposure", "at risk", "container trainer") in audit.findings(name)
        assert ("engine-driver", "at risk", "container engine") in audit.findings(name)
        assert "broken" not in {level for _, level, _ in audit.findings(name)}
        assert audit.node(name)["execs"] == 1

        pull(node, TRIGGERS[name], trainer)
        assert containers.answer(node, "trainer") == "EPERM"
        audit = deployed.run(hosts, "audit.py", "-y")
        assert audit.code == 1
        assert ("device-loss", "broken", "container trainer") in audit.findings(name)

        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 0, fix.text
        assert "proven" in fix.text
        assert not [found for found in fix.findings(name) if found[1] != "advice"]
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
        assert containers.answer(node, "trainer") == "ENXIO"
        pull(node, TRIGGERS[name], trainer)
        assert containers.answer(node, "trainer") == "ENXIO"

        before, file = started(node), node.read("/etc/docker/daemon.json")
        again = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert again.code == 0, again.text
        assert "nothing to do" in again.text
        assert started(node) == before
        assert node.read("/etc/docker/daemon.json") == file
        assert deployed.run(hosts, "audit.py", "--dry", "-y").code == 0
    finally:
        lab.stop(node)


def test_dry_run_shows_and_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    """The diff and the containers that would stop; file, engine and containers as before."""
    config = '{\n\t"log-driver": "json-file"\n}\n'
    node = lab.fresh("trixie", files={"/etc/docker/daemon.json": config})
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "trainer", "gpus")
        containers.start(node, "batch", "none", "--rm")
        containers.start(node, "web", "none", "--restart", "always")
        before = started(node)
        dry = deployed.run(hosts, "fix_cgroup.py", "--dry", "--diff", "-y")
        assert dry.code == 1
        assert "refused: containers: saw --rm on batch" in dry.text
        overruled = ("--data", "overrule=remove")
        dry = deployed.run(hosts, "fix_cgroup.py", "--dry", "--diff", "-y", *overruled)
        assert dry.code == 0, dry.text
        assert '+\t"exec-opts": ["native.cgroupdriver=cgroupfs"]' in dry.text
        for line in ("trainer: is started again", "batch: cannot come back", "web: comes back by"):
            assert line in dry.text
        assert started(node) == before
        assert node.read("/etc/docker/daemon.json") == config.encode()
        assert node.run("test -e /var/lib/pyinfra-nvml").code == 1
    finally:
        lab.stop(node)
