"""Every command of docs/inventories.md, typed as it stands there, on one node."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests import clusters
from tests.api_server import kubeconfig, serving
from tests.installed import program
from tests.lab.deployed import ROOT
from tests.lab.node import Node
from tests.lab.session import Lab

COMMANDS = re.findall(r"```sh\n(.*?)\n```", (ROOT / "docs/inventories.md").read_text())


def home(path: Path, node: Node) -> None:
    """What an operator has: ssh's configuration, a kubeconfig, Ansible's hosts."""
    (path / ".ssh").mkdir()
    (path / ".kube").mkdir()
    (path / ".ssh" / "config").write_text(
        f"Host gpu-lab\n  HostName {node.address}\n"
        "Host gpu-09\n  HostName 192.0.2.1\n"
        f"Host *\n  User root\n  IdentityFile {node.door.key}\n"
        f"  UserKnownHostsFile {node.door.known_hosts}\n  StrictHostKeyChecking yes\n"
    )
    (path / "hosts.ini").write_text(f"[gpu]\nby-ansible ansible_host={node.address}\n")


def of_cluster(node: Node) -> dict[str, object]:
    """A cluster whose node is this one."""
    objects = clusters.objects("chart_0_17")
    boot = node.sh("cat /proc/sys/kernel/random/boot_id").strip()
    first = objects["nodes"][0]
    first["status"]["addresses"] = [{"type": "InternalIP", "address": node.address}]
    first["status"]["nodeInfo"]["bootID"] = boot
    return objects


def test_every_command_audits_the_node(lab: Lab, tmp_path: Path) -> None:
    program("kubectl")
    node = lab.node("trixie")
    home(tmp_path, node)
    seen = []
    with serving(of_cluster(node)) as server:
        kubeconfig(tmp_path / ".kube/gpu-cluster", f"http://127.0.0.1:{server.server_port}")
        for number, command in enumerate(COMMANDS):
            report = tmp_path / f"{number}.json"
            here = command.replace("=hosts.ini", f"={tmp_path}/hosts.ini")
            done = subprocess.run(
                ["sh", "-c", f"{here} --data report_json={report}"],
                cwd=ROOT,
                env={**os.environ, "HOME": str(tmp_path)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert report.exists(), done.stdout + done.stderr
            (told,) = json.loads(report.read_text())["nodes"]
            assert told["no_answer"] is None, told
            assert told["execs"] == 1
            seen.append((told["node"], (told["facts"]["cluster"] or {}).get("name")))
    assert seen == [("gpu-lab", None), ("gpu-01", "gpu-01"), ("by-ansible", None)]
