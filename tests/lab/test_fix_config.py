"""deploys/fix_cgroup.py and the daemon.json it finds: kept, refused, or put back."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.lab import containers, deployed, inventory
from tests.lab.node import Node
from tests.lab.session import Lab
from tests.lab.test_cure import started

PATH = "/etc/docker/daemon.json"
DROP_IN = "/etc/systemd/system/docker.service.d/x.conf"
FLAG = (
    "[Service]\nExecStart=\nExecStart=/usr/sbin/dockerd -H fd://"
    " --exec-opt native.cgroupdriver=systemd\n"
)

ODD = """{ "debug":true,
   "log-driver" : "json-file",
\t"log-opts": {"max-size": "10m",   "max-file": "3"},
  "max-concurrent-downloads": 4, "max-concurrent-uploads":3,
      "shutdown-timeout": 20,
  "labels": [ "rack=7" ,"owner=lab" ],
  "experimental": false, "live-restore": false,
  "exec-opts":["Native.CgroupDriver=systemd"],
  "default-shm-size": "128M"
}"""

# A dockerd that refuses to start where the file names cgroupfs, as one with a bad config does.
PICKY = """#!/bin/sh
if grep -qs cgroupfs /etc/docker/daemon.json; then
  echo 'this dockerd does not like cgroupfs' >&2
  exit 1
fi
exec /usr/libexec/dockerd/dockerd "$@"
"""


def put(node: Node, content: str, mode: str = "0644") -> None:
    """Write daemon.json on the running node and start the engine with it."""
    node.write({PATH: content})
    node.sh(f"chmod {mode} {PATH} && chgrp adm {PATH} && systemctl restart docker")


def test_only_the_driver_entry_changes(lab: Lab, tmp_path: Path) -> None:
    """Ten other keys, odd indentation, mode 0640: all as before but for the entry."""
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        put(node, ODD, "0640")
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 0, fix.text
        want = ODD.replace("Native.CgroupDriver=systemd", "native.cgroupdriver=cgroupfs")
        assert node.read(PATH).decode() == want
        assert len(json.loads(want)) == 11
        assert node.sh(f"stat -c '%a %U:%G' {PATH}") == "640 root:adm"
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
    finally:
        lab.stop(node)


def test_a_file_that_is_no_json_is_refused(lab: Lab, tmp_path: Path) -> None:
    """A trailing comma: line and column, not a byte changed, the engine still up."""
    node = lab.node("trixie")
    broken = '{\n  "debug": true,\n}\n'
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        before = started(node)
        node.write({PATH: broken})
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1
        assert f"{PATH}, line 2, column 16: saw a comma before }}" in fix.text
        assert node.read(PATH).decode() == broken
        assert started(node) == before
        assert node.sh("systemctl is-active docker") == "active"
        assert node.run("ls /etc/docker/ | grep -v daemon.json").stdout == ""
    finally:
        node.sh(f"rm -f {PATH}")


def test_a_driver_given_by_a_flag_is_refused(lab: Lab, tmp_path: Path) -> None:
    """The unit passes --exec-opt: an entry in the file would keep dockerd from starting."""
    node = lab.fresh("trixie", files={DROP_IN: FLAG})
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        before = started(node)
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1
        assert "take --exec-opt out of the unit" in fix.text
        assert node.run(f"test -e {PATH}").code == 1
        assert started(node) == before
    finally:
        lab.stop(node)


# Edits that dockerd runs on beside and does not start with; the second one passes its --validate.
FATAL = {
    "bookworm": ('{"log-opts": {"max-file": 3}}', "log-opts"),
    "trixie": ('{"bip": "10.0.0.0/33"}', "bip"),
}


@pytest.mark.parametrize("name", FATAL)
def test_an_edit_that_was_never_started_with_is_no_restart(
    lab: Lab, tmp_path: Path, name: str
) -> None:
    """To restart would leave the engine down, with every container: the undo has the same file."""
    edit, word = FATAL[name]
    node = lab.fresh(name)
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "trainer", "gpus")
        before = started(node)
        time.sleep(2)
        node.write({PATH: edit})
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1, fix.text
        assert f"refused: {PATH}" in fix.text, fix.text
        assert word in fix.text
        assert node.read(PATH).decode() == edit
        assert started(node) == before
        assert node.sh("systemctl is-active docker") == "active"
        assert node.sh("docker ps --format '{{.Names}}'") == "trainer"
        put(node, '{"debug": true}')
        node.sh("docker start trainer")
        again = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert again.code == 0, again.text
        assert "proven" in again.text
    finally:
        lab.stop(node)


def test_a_drop_in_that_is_not_loaded_is_refused(lab: Lab, tmp_path: Path) -> None:
    """It lies on the disk, and nobody has told systemd: flag and file would meet at a reload."""
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        before = started(node)
        node.write({DROP_IN: FLAG})
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1, fix.text
        assert "not loaded yet" in fix.text, fix.text
        assert node.run(f"test -e {PATH}").code == 1
        assert started(node) == before
        node.sh("systemctl daemon-reload")
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1, fix.text
        assert "take --exec-opt out of the unit" in fix.text
        assert node.run(f"test -e {PATH}").code == 1
    finally:
        lab.stop(node)


def test_an_engine_that_will_not_start_runs_with_the_old_file(lab: Lab, tmp_path: Path) -> None:
    """The undo: the old file, the engine up with it, the container running, both reasons told."""
    node = lab.fresh("trixie")
    old = '{"debug": true}\n'
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        put(node, old)
        node.sh("mkdir /usr/libexec/dockerd && mv /usr/sbin/dockerd /usr/libexec/dockerd/dockerd")
        node.write({"/usr/sbin/dockerd": PICKY})
        node.sh("chmod 0755 /usr/sbin/dockerd && systemctl restart docker")
        containers.start(node, "trainer", "gpus")
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1, fix.text
        assert "this dockerd does not like cgroupfs" in fix.text
        assert "old daemon.json" in fix.text or "put back" in fix.text, fix.text
        assert node.read(PATH).decode() == old
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "systemd"
        assert containers.answer(node, "trainer") == "ENXIO"
    finally:
        lab.stop(node)


def test_a_container_in_anothers_network_comes_back(lab: Lab, tmp_path: Path) -> None:
    """Started before the one whose network it shares: it cannot start until that one runs."""
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "vpn", "gpus")
        containers.start(node, "app", "none", "--network", "container:vpn")
        node.sh("docker restart vpn")
        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 0, fix.text
        assert set(node.sh("docker ps --format '{{.Names}}'").split()) == {"vpn", "app"}
    finally:
        lab.stop(node)
