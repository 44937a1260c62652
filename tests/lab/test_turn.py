"""A host's turn: what began since the first look is seen, what left as it was to is no failure."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab import containers, deployed, inventory
from tests.lab.remedy import DRIVER, STATE
from tests.lab.restarted import until
from tests.lab.session import Lab

# As people run a container by systemd: made anew at each start, under another id.
UNIT = """\
[Unit]
Requires=docker.service
After=docker.service
[Service]
Restart=always
RestartSec=1
ExecStartPre=-/usr/bin/docker rm -f trainer
ExecStart=/usr/bin/docker run --name trainer --gpus all lab-busybox
"""


def test_what_began_since_the_first_look_is_seen(lab: Lab, tmp_path: Path) -> None:
    """While the canary restarts, a --rm container starts on the next node: that is left alone."""
    first, second = nodes = [lab.fresh("trixie", hostname=name) for name in ("gpu-1", "gpu-2")]
    try:
        hosts = inventory.write(tmp_path / "inventory.py", nodes)
        first.write({"/etc/systemd/system/trainer.service": UNIT})
        first.sh("systemctl daemon-reload && systemctl start trainer")
        until(lambda: containers.answer(first, "trainer") == "ENXIO")
        with ThreadPoolExecutor() as pool:
            running = pool.submit(deployed.run, hosts, "fix_cgroup.py", "-y")
            until(lambda: first.run(f"test -s {STATE}/ran").code == 0)
            containers.start(second, "late", "gpus", "--rm")
            fix = running.result()
        assert fix.code == 1
        assert "refused: containers: saw --rm on late" in fix.text
        assert [node.sh(DRIVER) for node in nodes] == ["cgroupfs", "systemd"]
        assert second.sh("docker ps --format '{{.Names}}'") == "late"
        assert "proven: driver cgroupfs; trainer" in fix.text
        assert "runs now and did not before" not in fix.text

        fix = deployed.run(hosts, "fix_cgroup.py", "-y", "--data", "overrule=remove")
        assert fix.code == 0, fix.text
        assert "proven: driver cgroupfs; late is gone, as told" in fix.text
        assert second.sh(DRIVER) == "cgroupfs"
    finally:
        for node in nodes:
            lab.stop(node)
