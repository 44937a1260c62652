"""The audit on real nodes: one exec, every user, nothing changed."""

from __future__ import annotations

from pathlib import Path

from tests.lab import containers, deployed, inventory
from tests.lab.session import Lab

VERBOSE = {"/etc/ssh/sshd_config.d/90-log.conf": "LogLevel VERBOSE\n"}
"""sshd then logs every session it starts (sshd_config(5)), one for each exec."""


_SOCKET = "permission denied while trying to connect to the Docker daemon socket"
_JOURNAL = "journal: kept from this user"
# What a user without sudo and without groups is not told, and why.
WANT_ROOT = {
    "systemd_manager.messages": _JOURNAL,
    "systemd_manager.containerd": _JOURNAL,
    "systemd_manager.reloads": _JOURNAL,
    "systemd_manager.reloaders": _JOURNAL,
    "systemd_manager.since": _JOURNAL,
    "nvidia_driver.log": "kernel log: dmesg refused",
    "docker_engine.info": _SOCKET,
    "docker_inspect": _SOCKET,
    "gpu_containers.unseen[0]": _SOCKET,
    "gpu_containers.unseen[1]": "want root to look into /proc",
    "oci_specs": "want root to read the specs",
    "gpu_operator.operands": "want root to read the specs",
}
# Only where kernel.dmesg_restrict is set.
MAY_BE_OPEN = {"nvidia_driver.log"}


def test_one_connection_and_one_exec(lab: Lab, tmp_path: Path) -> None:
    """By the log of the node's own sshd."""
    node = lab.fresh("trixie", files=VERBOSE)
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "trainer", "gpus")
        mark = node.sh("journalctl -u ssh -n 0 --show-cursor | sed -n 's/^-- cursor: //p'")
        audit = deployed.run(hosts, "audit.py", "--dry", "-y")
        assert audit.node("trixie")["execs"] == 1
        # The first connection after the mark is the audit's, the second asks for this log.
        log = node.sh(f"journalctl -u ssh --after-cursor='{mark}' -o cat")
        lines = log.splitlines()
        sessions = [line for line in lines if line.startswith("Starting session: command")]
        accepted = [line for line in lines if line.startswith("Accepted publickey")]
        assert len(sessions) - 1 == 1, log
        assert len(accepted) - 1 == 1, log
    finally:
        lab.stop(node)


def test_a_user_without_root_is_told_what_is_unknown(lab: Lab, tmp_path: Path) -> None:
    """The audit ends well; what wants root or the group docker is unknown, with the reason."""
    node = lab.node("trixie")
    hosts = inventory.write(tmp_path / "inventory.py", [node], user="operator")
    audit = deployed.run(hosts, "audit.py", "--dry", "-y")
    assert audit.code == 0, audit.text
    statuses = {check["check"]: check["status"] for check in audit.node("trixie")["checks"]}
    assert statuses["device-loss"] == "unknown"
    assert statuses["engine-driver"] == "unknown"
    assert statuses["cgroup-hierarchy"] == "ok"
    assert "want root to look into /proc" in audit.text
    assert "permission denied" in audit.text
    told = dict(deployed.unknown(audit.node("trixie")["facts"]))
    for path, reason in told.items():
        print(f"{path}: {reason}")
    assert set(told) | MAY_BE_OPEN == set(WANT_ROOT)
    for path, reason in told.items():
        assert WANT_ROOT[path] in reason, (path, reason)


def test_a_user_with_sudo_sees_everything(lab: Lab, tmp_path: Path) -> None:
    node = lab.node("trixie")
    containers.start(node, "trainer", "gpus")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node], user="admin")
        audit = deployed.run(hosts, "audit.py", "--dry", "-y", "--sudo")
        assert ("device-exposure", "at risk", "container trainer") in audit.findings("trixie")
        assert audit.node("trixie")["verdict"] == "at risk"
    finally:
        containers.remove(node, "trainer")


def test_every_kind_of_node_at_once(lab: Lab, tmp_path: Path) -> None:
    """Four systemd and Docker versions, one of them on cgroup v1, and a host that is not there."""
    nodes = lab.nodes(["bookworm", "trixie", "forky", "legacy"])
    hosts = inventory.write(tmp_path / "inventory.py", nodes)
    with hosts.open("a") as file:
        file.write('gone = [("gone", {"ssh_hostname": "127.0.0.1", "ssh_port": 9})]\n')
        stranger = {**inventory.host_data(nodes[0]), "ssh_user": "stranger"}
        file.write(f'strangers = [("stranger", {stranger!r})]\n')
    audit = deployed.run(hosts, "audit.py", "--dry", "-y")
    assert audit.code == 1
    assert audit.node("gone")["no_answer"].startswith("could not be connected to: ")
    assert "want a key and a user that this host lets in" in audit.node("stranger")["no_answer"]
    modes = {node.name: audit.node(node.name)["facts"]["cgroup"]["mode"] for node in nodes}
    assert modes == {"bookworm": "v2", "trixie": "v2", "forky": "v2", "legacy": "v1"}
    assert audit.node("legacy")["facts"]["systemd_manager"]["taints"] == ["cgroupsv1"]
