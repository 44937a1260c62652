"""A node's life on this machine: it reboots, loses its wire, ends, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import cgroups, containers
from tests.lab import run as runs
from tests.lab.errors import LabError
from tests.lab.process import Process, process
from tests.lab.session import Lab

REPOSITORY = Path(__file__).parents[2]
# A run that boots a node and then waits to be killed.
VICTIM = """\
import time
from tests.lab.session import open_lab
lab = open_lab()
print(lab.fresh("trixie").machine.place, flush=True)
time.sleep(300)
"""


def traces(place: Path) -> list[str]:
    """Everything on this machine that bears the name of this node."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    links = [path.name for path in Path("/sys/class/net").iterdir()]
    groups = [str(group) for group in cgroups.groups_for(place.name) if group.exists()]
    mounted = [line for line in mounts if f"{place}/" in line]
    return [*mounted, *groups, *(link for link in links if link == f"vb-{place.name}")]


def test_reboot(lab: Lab) -> None:
    """Docker, its containers' restart policy and the GPU nodes outlive a reboot of the node."""
    node = lab.fresh("trixie")
    containers.start(node, "gpu-app", "gpus", "--restart", "always")
    before = node.sh("cat /proc/sys/kernel/random/boot_id; stat -c %Y /proc/1")
    node.reboot()
    assert node.sh("cat /proc/sys/kernel/random/boot_id; stat -c %Y /proc/1") != before
    assert containers.answer(node, "gpu-app") == "ENXIO"
    lab.stop(node)


def test_cut_wire(lab: Lab) -> None:
    """What runs on a node goes on while nobody reaches it, and it is reached again."""
    node = lab.fresh("trixie")
    node.sh("nohup sh -c 'sleep 2; touch /tmp/done' >/dev/null 2>&1 &")
    node.cut_wire()
    assert not node.door.answers()
    node.mend_wire()
    node.wait_until_up()
    assert node.sh("sleep 2; ls /tmp/done") == "/tmp/done"
    lab.stop(node)


def test_stop_leaves_nothing(lab: Lab) -> None:
    """A stopped node has no mount, no cgroup, no link, no directory, no process."""
    for name in ("trixie", "legacy"):
        node = lab.fresh(name)
        assert traces(node.machine.place)
        lab.stop(node)
        assert traces(node.machine.place) == []
        assert not node.machine.place.exists()
        assert not node.machine.alive()


def test_killed_run_is_cleared() -> None:
    """The nodes of a killed run go when the next run begins; those of a living one stay."""
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    place = Path(victim.stdout.readline().strip())
    assert place.parent.name not in runs.clear_leftovers()
    assert traces(place)
    victim.kill()
    victim.wait()
    victim.stdout.close()
    assert place.parent.name in runs.clear_leftovers()
    assert traces(place) == []
    assert not place.parent.exists()


@pytest.mark.skipif((runs.STATE / runs.UP).exists(), reason="lab: `up` has nodes, want them ended")
def test_nodes_to_play_with_come_and_go() -> None:
    def make(*words: str) -> str:
        argv = ["make", "--silent", *words]
        return subprocess.run(
            argv, cwd=REPOSITORY, check=True, capture_output=True, text=True, timeout=300
        ).stdout

    try:
        told = make("lab", "NODES=trixie")
        (path,) = re.findall(r"^inventory: (.*)$", told, re.MULTILINE)
        asked = [Path(sys.executable).parent / "pyinfra", path, "exec", "--", "docker", "info"]
        done = subprocess.run(asked, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
        assert "Cgroup Driver: systemd" in done.stdout + done.stderr
    finally:
        assert "ended: up" in make("lab-down")
    assert not (runs.STATE / runs.UP).exists()


def test_failed_boot_says_what_the_console_said(lab: Lab) -> None:
    """A node that cannot boot ends with the tail of its console, and leaves nothing."""
    broken = {"/usr/local/sbin/lab-init": "#!/bin/sh\necho no init here\nexit 1\n"}
    before = lab.run.machines()
    with pytest.raises(LabError, match="systemd-nspawn has ended"):
        lab.fresh("trixie", files=broken)
    assert lab.run.machines() == before


def test_recycled_process_id_is_left_alone() -> None:
    """A process is told apart from an earlier one with its number by its start time."""
    sleeper = subprocess.Popen(["sleep", "60"])
    now = process(sleeper.pid)
    Process(sleeper.pid, now.start - 1).kill()
    assert now.alive()
    now.kill()
    assert sleeper.wait() == -signal.SIGKILL
    assert not now.alive()
    assert process(os.getpid()).alive()
