"""deploys/restore.py: the daemon.json from before, by the same transaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab import containers, deployed, inventory
from tests.lab.remedy import Remedy
from tests.lab.session import Lab
from tests.lab.test_cure import started
from tests.lab.test_fix_config import PATH

BEFORE = '{\n  "debug": true\n}\n'


@pytest.mark.parametrize("before", [None, BEFORE], ids=["no file", "a file"])
def test_there_and_back(lab: Lab, tmp_path: Path, before: str | None) -> None:
    """Fixed, then as before: file, driver, containers; a second restore does nothing."""
    node = lab.fresh("trixie", files={PATH: before} if before else None)
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "trainer", "gpus")
        assert deployed.run(hosts, "fix_cgroup.py", "-y").code == 0
        dry = deployed.run(hosts, "restore.py", "--dry", "--diff", "-y")
        assert dry.code == 0, dry.text
        assert "the file from before, with driver systemd" in dry.text
        assert "cgroupfs" in node.read(PATH).decode()

        if before:
            # The controller dies behind the write: the run after it restarts the engine.
            words = 'daemon_json.restored(name="back", driver="systemd")\n'
            assert Remedy(node, tmp_path).run(words).code == 0
            assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
        back = deployed.run(hosts, "restore.py", "-y")
        assert back.code == 0, back.text
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "systemd"
        if before:
            assert node.read(PATH).decode() == before
        else:
            assert node.run(f"test -e {PATH}").code == 1
        assert containers.answer(node, "trainer") == "ENXIO"

        at = started(node)
        again = deployed.run(hosts, "restore.py", "-y")
        assert again.code == 0, again.text
        assert "as it was before" in again.text
        assert started(node) == at
        assert deployed.run(hosts, "fix_cgroup.py", "-y").code == 0
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
    finally:
        lab.stop(node)


def test_a_file_changed_since_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("trixie")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        assert deployed.run(hosts, "fix_cgroup.py", "-y").code == 0
        changed = node.read(PATH).decode().replace("{", '{ "debug": true,', 1)
        node.write({PATH: changed})
        back = deployed.run(hosts, "restore.py", "-y")
        assert back.code == 1
        assert "saw other bytes than those written at" in back.text
        assert node.read(PATH).decode() == changed
    finally:
        lab.stop(node)
