"""A monitor as deploys/mig_monitor.py writes it out, started by compose on a real node."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from pyinfra_nvml.facts.mig import MONITOR_NODE
from pyinfra_nvml.plans.mig_monitor_files import monitor_files
from pyinfra_nvml.plans.mig_monitor_form import Choice, Form
from pyinfra_nvml.settings.mig_monitor import Monitor
from tests.lab import containers, image, requirements
from tests.lab.node import Node
from tests.lab.session import Lab

MONITOR = Monitor(image.NAME, "mig-monitor", "monitoring")

# linux/capability.h: CAP_SYS_ADMIN is bit 21.
SYS_ADMIN_ALONE = f"{1 << 21:016x}"

NODES = f"mkdir -p /dev/nvidia-caps && mknod -m 0444 {MONITOR_NODE} c 237 2"


@contextmanager
def engine(node: Node, socket: Path) -> Iterator[dict[str, str]]:
    """The environment in which docker-compose speaks to the node's Docker."""
    flags = ["-N", "-o", "ExitOnForwardFailure=yes", "-L", f"{socket}:/run/docker.sock"]
    *client, place = node.door.argv("root")
    tunnel = subprocess.Popen([*client, *flags, place], stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while not socket.exists() and time.monotonic() < until:
            time.sleep(0.05)
        yield {**os.environ, "DOCKER_HOST": f"unix://{socket}", "COMPOSE_PROJECT_NAME": "lab"}
    finally:
        tunnel.terminate()
        tunnel.wait(10)


def up(text: str, place: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    file = place / "compose.yaml"
    file.write_text(text)
    return subprocess.run(
        ["docker-compose", "-f", str(file), "up", "-d"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def inside(node: Node, command: str) -> str:
    ran = node.run(f"docker exec mig-monitor sh -c '{command}' 2>&1")
    return ran.stdout.strip()


def test_compose_starts_the_monitor_with_its_rights_and_no_more(lab: Lab, tmp_path: Path) -> None:
    """By the hook, which checks what it was given; and by CDI, where only the node gives it."""
    if not shutil.which("docker-compose"):
        assert not requirements.required(), "docker-compose: not here, want Debian's package"
        pytest.skip("docker-compose: not here, want Debian's package")
    cdi = monitor_files(MONITOR, Choice(Form.RUNTIME_NODE, True, ""))[
        "mig-monitor-runtime-node.cdi.yaml"
    ]
    node = lab.fresh("trixie", files={**containers.CDI_FILES, "/etc/cdi/mig-monitor.yaml": cdi})
    try:
        with engine(node, tmp_path / "docker.sock") as environment:
            (hook,) = monitor_files(MONITOR, Choice(Form.HOOK, False, "")).values()
            done = up(hook, tmp_path, environment)
            assert done.returncode == 0, done.stderr
            assert inside(node, "ls /dev/nvidia-caps").split() == ["nvidia-cap1", "nvidia-cap2"]
            assert containers.answer(node, "mig-monitor") == "ENXIO"
            holds_least(node)

            # docker-compose 1.29 cannot recreate a container on this engine.
            containers.remove(node, "mig-monitor")
            half = yaml.safe_load(hook)
            del half["services"]["mig-monitor"]["cap_add"]
            done = up(yaml.safe_dump(half), tmp_path, environment)
            assert done.returncode != 0
            assert "cannot set MIG_MONITOR_DEVICES in non privileged container" in done.stderr

            containers.remove(node, "mig-monitor")
            node.sh(NODES)
            (text,) = monitor_files(MONITOR, Choice(Form.CDI_NODE, False, "")).values()
            done = up(text, tmp_path, environment)
            assert done.returncode == 0, done.stderr
            assert inside(node, "ls /dev/nvidia-caps") == "nvidia-cap2"
            assert containers.answer(node, "mig-monitor") == "ENXIO"
            assert containers.answer(node, "mig-monitor", MONITOR_NODE) == "ENXIO"
            assert "Permission denied" in inside(node, f": >{MONITOR_NODE}")
            holds_least(node)
        # What Kubernetes' runtimes are given is a CDI spec that this engine takes too.
        words = (
            f"docker run --rm --device pyinfra-nvml/mig=monitor {image.NAME} ls /dev/nvidia-caps"
        )
        assert node.sh(words) == "nvidia-cap2"
    finally:
        lab.stop(node)


def holds_least(node: Node) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in inside(node, "cat /proc/1/status").splitlines()
        if ":\t" in line
    )
    for name in ("CapPrm", "CapEff", "CapBnd"):
        assert status[name] == SYS_ADMIN_ALONE, name
    assert status["NoNewPrivs"] == "1"
    assert "Read-only file system" in inside(node, ": >/etc/mine")
    assert inside(node, ": >/tmp/mine && echo wrote") == "wrote"
