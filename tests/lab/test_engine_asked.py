"""Which engine is asked: this node's own, and never one that the asking would start."""

from __future__ import annotations

from pathlib import Path

from tests.lab import containers, deployed, inventory
from tests.lab.session import Lab


def test_a_stopped_engine_stays_stopped(lab: Lab, tmp_path: Path) -> None:
    """docker.socket listens: whoever asks would start dockerd."""
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        node.sh("systemctl stop docker.service docker.socket && systemctl start docker.socket")
        audit = deployed.run(hosts, "audit.py", "--dry", "-y")
        assert "its socket would start it" in audit.text
        fix = deployed.run(hosts, "fix_cgroup.py", "--dry", "-y")
        assert fix.code == 1
        assert "systemctl start docker, then run this again" in fix.text
        assert node.run("systemctl is-active docker.service").stdout.strip() == "inactive"
    finally:
        lab.stop(node)


def test_another_nodes_engine_is_not_asked(lab: Lab, tmp_path: Path) -> None:
    """Docker's variables in the environment of every login, and a context that names no engine."""
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        node.sh("docker context create far --docker host=tcp://127.0.0.1:9; docker context use far")
        more = "DOCKER_TLS_VERIFY=1\nDOCKER_CERT_PATH=/none\nDOCKER_API_VERSION=1.12\n"
        node.write({"/etc/environment": f"DOCKER_HOST=tcp://127.0.0.1:9\n{more}"})
        assert node.run("docker info").code != 0
        audit = deployed.run(hosts, "audit.py", "--dry", "-y")
        assert audit.node("trixie")["facts"]["docker_engine"]["info"]["cgroup_driver"] == "systemd"
    finally:
        lab.stop(node)


def test_a_process_below_its_scope_is_still_in_it(lab: Lab, tmp_path: Path) -> None:
    """A container that moved its processes into a cgroup of its own below the scope."""
    node = lab.node("trixie")
    identity = containers.start(node, "sub", "gpus")
    try:
        group = f"/sys/fs/cgroup/system.slice/docker-{identity}.scope"
        node.sh(
            f"mkdir {group}/init && for p in $(cat {group}/cgroup.procs);"
            f" do echo $p >{group}/init/cgroup.procs; done"
        )
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        audit = deployed.run(hosts, "audit.py", "--dry", "-y")
        assert ("device-exposure", "at risk", "container sub") in audit.findings("trixie")
    finally:
        containers.remove(node, "sub")


def test_no_secret_of_daemon_json_is_in_the_report(lab: Lab, tmp_path: Path) -> None:
    hidden = "Pr0xyS3cret"
    config = f'{{"proxies": {{"http-proxy": "http://bob:{hidden}@192.0.2.1:3128"}}}}\n'
    node = lab.fresh("trixie", files={"/etc/docker/daemon.json": config})
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        audit = deployed.run(hosts, "audit.py", "--dry", "-y")
        assert audit.node("trixie")["facts"]["daemon_json"]["files"][0]["content"]["sha256"]
        assert hidden not in audit.text + str(audit.report)
    finally:
        lab.stop(node)


def test_a_directory_of_the_system_is_not_taken(lab: Lab, tmp_path: Path) -> None:
    """A state directory that holds other things keeps its mode."""
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        words = ("--data", "state_directory=/var/lib")
        fix = deployed.run(hosts, "fix_cgroup.py", "-y", *words)
        assert fix.code == 1
        assert "a directory with other things in it" in fix.text
        assert node.sh("stat -c %a /var/lib") == "755"
    finally:
        lab.stop(node)
