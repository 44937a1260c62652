"""From a container that lost its GPU to an alert in Prometheus, and from the cure to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.lab import containers, deployed, inventory, triggers
from tests.lab.session import Lab
from tests.prometheus.monitoring import monitoring
from tests.test_signals import SCRIPT

LOST = ("PyinfraNvmlGpuLost", "bookworm")


def audited(hosts: Path, textfile: Path) -> int:
    """The exit code of the console command, which writes the textfile."""
    words = ["--results", str(hosts.parent / "results"), "--level", "broken", "--interval", "60"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pyinfra_nvml.drift",
            str(hosts),
            *words,
            "--textfile",
            str(textfile),
        ],
        cwd=deployed.ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYINFRA_PROGRESS": "off"},
    )
    assert textfile.exists(), done.stdout + done.stderr
    return done.returncode


def condition(textfile: Path) -> tuple[int, str]:
    """What node-problem-detector is told."""
    words = ["sh", str(SCRIPT), "npd", "broken", str(textfile)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout.strip()


def test_a_lost_gpu_fires_an_alert_and_the_cure_ends_it(lab: Lab, tmp_path: Path) -> None:
    node = lab.fresh("bookworm")
    try:
        hosts = inventory.write(tmp_path / "inventory.py", [node])
        containers.start(node, "trainer", "gpus")
        triggers.daemon_reload(node)
        assert containers.answer(node, "trainer") == "EPERM"
        with monitoring(tmp_path / "monitoring", hold="1s") as told:
            textfile = told.textfiles / "pyinfra_nvml.prom"
            assert audited(hosts, textfile) == 1
            assert condition(textfile) == (1, "broken: device-loss")
            told.until(lambda: LOST in told.firing(), "the loss is an alert")

            assert deployed.run(hosts, "fix_cgroup.py", "-y").code == 0
            assert LOST in told.firing(), "a verdict stands until the next audit"

            assert audited(hosts, textfile) == 0
            assert condition(textfile) == (0, "not broken")
            told.until(lambda: LOST not in told.firing(), "the cure ends the alert")
            assert not [name for name, of in told.firing() if of == "bookworm"]
    finally:
        lab.stop(node)
