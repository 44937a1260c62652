"""The deploy that writes the MIG monitor out, as its page has it, and its settings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import yaml
from pyinfra.api import Host
from pyinfra.api.exceptions import DeployError

from pyinfra_nvml.settings.mig_monitor import read_monitor

ROOT = Path(__file__).parents[2]


def test_the_deploy_writes_on_this_machine_and_twice_the_same(tmp_path: Path) -> None:
    place = tmp_path / "out"
    done = deploy(place)
    assert done.returncode == 0, done.stdout
    page = (ROOT / "docs/mig.md").read_text()
    assert len(told(page)) == 2
    assert told(page) == told(done.stdout), "docs/mig.md shows what the deploy tells"
    (file,) = place.iterdir()
    assert yaml.safe_load(file.read_text())["services"]["exporter"]["image"] == "r.example/x:1"
    first = file.stat().st_mtime_ns
    again = deploy(place)
    assert again.returncode == 0 and file.stat().st_mtime_ns == first


def test_a_monitor_that_the_inventory_does_not_name_is_refused(tmp_path: Path) -> None:
    done = deploy(tmp_path / "out", "--dry", "--data", "mig_monitor_name=other")
    assert done.returncode == 1
    assert "refused: mig_monitors: saw no pattern for other" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("mig_monitor_image", None),
        ("mig_monitor_image", "r/x:1 y"),
        ("mig_monitor_image", "r/x:1\n"),
        ("mig_monitor_name", "Upper"),
        ("mig_monitor_name", "a" * 51),
        ("mig_monitor_namespace", "not_one"),
        ("mig_monitor_out", "/etc/hostname/x"),
    ],
)
def test_a_setting_that_makes_no_sense_ends_the_run(setting: str, value: str | None) -> None:
    data = {"mig_monitor_image": "r.example/x:1", setting: value}
    with pytest.raises(DeployError, match=f"setting {setting} is "):
        read_monitor(cast(Host, SimpleNamespace(data=data)))


def told(text: str) -> list[str]:
    """What is told of a node, without the names that differ."""
    lines = re.findall(r"(?:form|then): .*|form \w+: .*", text)
    return [re.sub(r"ssh://\S+|\S+/(exporter|mig-monitor)-", "", line.strip()) for line in lines]


def command() -> list[str]:
    """The command of docs/mig.md, without its inventory and its image."""
    page = (ROOT / "docs/mig.md").read_text()
    (line,) = re.findall(r"```sh\n(.*)\n```", page)
    line = str(line).removesuffix(" --data mig_monitor_image=IMAGE")
    program, _, *words = line.split()
    assert program == ".venv/bin/pyinfra"
    return words


def deploy(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = {"mig_monitor_image": "r.example/x:1", "mig_monitor_name": "exporter"}
    given |= {"mig_monitor_out": str(place), "report_json": str(place.with_name("audit.json"))}
    data = [word for name, value in given.items() for word in ("--data", f"{name}={value}")]
    inventory = ["inventories/recorded.py", *command(), "--limit", "@fake/gpu_mig"]
    return subprocess.run(
        [str(Path(sys.executable).with_name("pyinfra")), *inventory, "-y", *data, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYINFRA_PROGRESS": "off"},
    )
