"""A driver out of step on real nodes: upgraded, flagged, held, rebooted, in step again."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import containers, deployed, inventory
from tests.lab import driver_packages as driver
from tests.lab.deployed import ROOT, Outcome
from tests.lab.node import Node
from tests.lab.parallel import side_by_side
from tests.lab.session import Lab

OLD, NEW = "550.90.07", "550.107.02"
FLAG, MESSAGE, STATE = "/run/reboot-required", "/run/motd.d/pyinfra-nvml", "/var/lib/pyinfra-nvml"
# A shutdown during which sshd goes on answering.
SLOW = """\
[Unit]
After=ssh.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sleep 6
[Install]
WantedBy=multi-user.target
"""
# What stands against a reboot: real programs, and processes of the names that are looked for.
OBSTACLES = f"""
mkdir -p /run/lab
for name in dpkg kubelet kured slurmd; do cp /bin/sleep /run/lab/$name; done
for name in dpkg kubelet kured slurmd; do
  systemd-run --quiet --unit=lab-$name /run/lab/$name 600
done
systemd-run --quiet --unit=lab-backup systemd-inhibit --what=shutdown --who=backup --why='runs' \
  --mode=block sleep 600
shutdown -r +60
docker exec notebook sh -c 'mkdir -p /usr/lib64; echo x >/usr/lib64/libnvidia-ml.so.{OLD}'
docker run --detach --rm --name brief lab-busybox
until [ -n "$(ls /run/systemd/inhibit)" ]; do sleep 0.1; done
"""
REASONS = (
    f"a reboot would not help: kernel {driver.KERNEL} has {OLD} on disk",
    "machine: saw a container (systemd-nspawn)",
    "package manager: saw dpkg (",
    "inhibitor: saw backup: runs, want none that blocks a shutdown",
    "shutdown: saw a reboot that somebody has scheduled",
    "kubectl drain NODE",
    "scheduler: saw slurmd",
    "kured: saw it reboots this node",
    f"container notebook: saw libnvidia-ml {OLD} in its image, want the node's, {NEW}",
    "containers: saw --rm on brief",
)
CLEARED = """
shutdown -c
systemctl stop lab-dpkg lab-kubelet lab-kured lab-slurmd lab-backup
docker rm -f brief notebook
"""


@pytest.fixture
def fleet(lab: Lab, tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    """Two nodes with a driver in memory, and a newer one on disk."""

    def skewed(kind: str, name: str) -> Node:
        node = lab.fresh(kind, hostname=name, files=driver.FILES)
        driver.install(node, tmp_path, OLD)
        driver.load(node)
        containers.start(node, "web", "none", "--restart", "always")
        # Without a GPU: behind the lab's nodes is no driver, and after a boot there is to be one.
        containers.start(node, "trainer", "none")
        driver.install(node, tmp_path, NEW)
        updates_itself(node)
        return node

    # The packages are built once, by the first.
    driver.build(tmp_path, OLD, NEW)
    first, second = side_by_side(
        [lambda: skewed("trixie", "gpu-1"), lambda: skewed("bookworm", "gpu-2")]
    )
    yield first, second
    for node in (first, second):
        lab.stop(node)


def updates_itself(node: Node) -> None:
    """As with unattended-upgrades on: without updates by themselves nothing is to be held."""
    wants = "/etc/systemd/system/timers.target.wants"
    node.write(
        {
            "/usr/bin/unattended-upgrade": "#!/bin/sh\n",
            "/etc/apt/apt.conf.d/20auto-upgrades": 'APT::Periodic::Unattended-Upgrade "1";\n',
        }
    )
    node.sh(
        "chmod 0755 /usr/bin/unattended-upgrade;"
        " rm -f /etc/systemd/system/apt-daily-upgrade.timer;"
        f" mkdir -p {wants}; ln -sf /lib/systemd/system/apt-daily-upgrade.timer {wants}/"
    )


def boot(node: Node) -> str:
    return node.sh("cat /proc/sys/kernel/random/boot_id")


def holds(node: Node) -> list[str]:
    return node.sh("apt-mark showhold").split()


def running(node: Node) -> set[str]:
    return set(node.sh("docker ps --format '{{.Names}}'").split())


def traces(node: Node) -> str:
    """When each thing that a run may change was changed."""
    return node.sh(f"stat -c '%n %Z' {FLAG} {MESSAGE} {STATE}/holds /var/lib/dpkg/status")


def login(node: Node) -> str:
    """What somebody reads who logs in."""
    words = [*node.door.argv("root")[:-1], "-tt", node.door.argv("root")[-1]]
    return subprocess.run(words, input="exit\n", capture_output=True, text=True, timeout=60).stdout


def commands() -> list[list[str]]:
    """The words behind the deploy in each command of the page."""
    text = (ROOT / "docs/driver.md").read_text()
    found = re.findall(r"^\.venv/bin/pyinfra inventories/example\.py deploys/(.*)$", text, re.M)
    return [shlex.split(line) for line in found]


def test_from_an_upgrade_to_a_driver_in_step(fleet: tuple[Node, Node], tmp_path: Path) -> None:
    canary, other = fleet
    hosts = inventory.write(tmp_path / "inventory.py", fleet)
    look, fix, reboot = commands()

    def run(words: list[str], *more: str) -> Outcome:
        return deployed.run(hosts, *words, "-y", *more)

    assert run(look, "--limit", "gpu-1").code == 0
    assert canary.run(f"ls {FLAG} {STATE}").code, "a dry run changes nothing"

    flagged = run(fix)
    assert flagged.code == 0, flagged.text
    for node in fleet:
        assert f"module {OLD}, libnvidia-ml {NEW}" in node.sh(f"cat {FLAG}")
        assert sorted(holds(node)) == sorted(driver.PACKAGES), flagged.text
    assert "to release: apt-mark unhold libnvidia-compute-550" in flagged.text
    came = canary.sh("date -u -d @$(stat -c %Z /usr/lib/*/libnvidia-ml.so.5*) +%FT%T")
    assert f"since {came}" in canary.sh(f"cat {FLAG}")
    assert f"since {came}" in login(canary), "who logs in is told"
    before = [traces(node) for node in fleet]
    assert run(fix).code == 0
    assert [traces(node) for node in fleet] == before, "a second run changes nothing"

    boots = [boot(node) for node in fleet]
    containers.start(other, "notebook", "none")
    driver.install(other, tmp_path, OLD, driver.MODULE)
    other.sh(OBSTACLES)
    refused = run(reboot)
    assert refused.code == 1
    for reason in REASONS:
        assert reason in refused.text, reason
    assert [boot(node) for node in fleet] == boots
    other.sh(CLEARED)
    driver.install(other, tmp_path, NEW, driver.MODULE)

    # The canary comes back without its module: the other one is not touched.
    canary.write({driver.REJECTED: ""})
    stopped = run(reboot, "--data", "overrule=guest")
    assert stopped.code == 1
    assert (
        "not proven: driver: saw no nvidia module in memory, want its module loaded" in stopped.text
    )
    assert "gpu-2 · not touched: canary: saw gpu-1 fail" in stopped.text
    assert boot(canary) != boots[0]
    assert boot(other) == boots[1]
    assert running(canary) == {"web", "trainer"}

    canary.sh(f"rm {driver.REJECTED}")
    driver.load(canary)
    other.write({"/etc/systemd/system/lab-slow.service": SLOW})
    other.sh("systemctl enable --now lab-slow.service 2>/dev/null")
    boots = [boot(node) for node in fleet]
    done = run(reboot, "--data", "overrule=guest")
    assert done.code == 0, done.text
    assert boot(canary) == boots[0], "it is in step"
    assert boot(other) != boots[1]
    assert "proven: module, libraries and containers agree" in done.text
    assert driver.loaded(other) == NEW
    assert running(other) == {"web", "trainer"}
    assert not done.findings("gpu-2") or "driver-skew" not in str(done.findings("gpu-2"))
    for node in fleet:
        assert node.run(f"ls {FLAG} {MESSAGE} {STATE}/ran").stdout == ""
        assert sorted(holds(node)) == sorted(driver.PACKAGES), flagged.text

    assert run(fix, "--data", "hold_driver=release", "--limit", "gpu-1").code == 0
    assert holds(canary) == []
