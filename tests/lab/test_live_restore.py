"""live-restore: the switch leaves old containers in their scopes; they are named, or restarted."""

from __future__ import annotations

from pathlib import Path

from tests.lab import containers, deployed, inventory, triggers
from tests.lab.session import Lab

LIVE_RESTORE = {"/etc/docker/daemon.json": '{"live-restore": true}\n'}


def test_left_behind_named_then_restarted(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("trixie", files=LIVE_RESTORE)
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        trainer = containers.start(node, "trainer", "gpus")
        batch = containers.start(node, "batch", "gpus")
        pid = node.sh("docker inspect -f '{{.State.Pid}}' trainer")

        fix = deployed.run(hosts, "fix_cgroup.py", "-y")
        assert fix.code == 1, fix.text
        assert "live-restore: they keep running" in fix.text
        assert node.sh("docker info --format '{{.CgroupDriver}}'") == "cgroupfs"
        assert node.sh("docker inspect -f '{{.State.Pid}}' trainer") == pid
        for name in ("trainer", "batch"):
            assert f"not proven: container {name}: saw it still in its old scope" in fix.text

        again = deployed.run(
            hosts, "fix_cgroup.py", "-y", "--data", "restart_exposed_containers=true"
        )
        assert again.code == 0, again.text
        assert node.sh("docker inspect -f '{{.State.Pid}}' trainer") != pid
        triggers.daemon_reload(node)
        for identity in (trainer, batch):
            assert node.run(f"systemctl is-active {containers.scope(identity)}").code != 0
        assert containers.answer(node, "trainer") == "ENXIO"
        assert containers.answer(node, "batch") == "ENXIO"
    finally:
        lab.stop(node)
