"""The wheel beside somebody's own pyinfra repository, which has a facts/ and operations/ too."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

from pyinfra_nvml.operations.own_wheel import ROOT
from tests import recordings

FILES = {
    "facts/__init__.py": "",
    "facts/uptime.py": """
        from pyinfra.api.facts import FactBase

        class Uptime(FactBase):
            def command(self):
                return "echo up"

            def process(self, output):
                return output[0]
        """,
    "operations/__init__.py": "",
    "operations/motd.py": """
        from pyinfra.api.operation import operation

        @operation()
        def motd():
            yield "true"
        """,
    "deploys/__init__.py": "",
    "deploys/site.py": """
        from pyinfra import host
        from facts.uptime import Uptime
        from operations import motd
        from pyinfra_nvml.deploys import audit, fix_cgroup

        print("their fact:", host.get_fact(Uptime))
        motd.motd(name="their operation")
        audit(name="their audit")
        fix_cgroup()
        """,
    "inventory.py": """
        from pathlib import Path

        answer = Path("recording.txt").read_text()
        hosts = [
            (
                "@fake/gpu-17",
                {
                    "fake_responses": {"echo '@node ": answer, "echo up": "up"},
                    "fake_delay": 0,
                    "fake_delay_jitter": 0,
                },
            )
        ]
        """,
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of somebody else's, and a virtual environment with our wheel beside pyinfra."""
    place = tmp_path_factory.mktemp("theirs")
    for name, text in FILES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(textwrap.dedent(text))
    (place / "recording.txt").write_text(
        (recordings.NODES / "trixie_exposed" / "recording.txt").read_text()
    )
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place / "wheel")]
    subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, timeout=120)
    venv.create(place / "venv", symlinks=True)
    site = next((place / "venv").glob("lib/python*/site-packages"))
    with zipfile.ZipFile(next((place / "wheel").glob("*.whl"))) as wheel:
        wheel.extractall(site)
    # What the wheel depends on is installed here already; only this checkout must not be found.
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return place


def run(theirs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Types pyinfra in their repository."""
    return subprocess.run(
        [str(theirs / "venv" / "bin" / "python"), "-m", "pyinfra", "inventory.py", *words],
        cwd=theirs,
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_their_deploy_file_takes_our_deploys_beside_its_own_folders(theirs: Path) -> None:
    done = run(theirs, "deploys/site.py", "--dry", "-y", "--data", "their_own=1")
    said = done.stdout + done.stderr
    assert "their fact: up" in said, said
    assert "[@fake/gpu-17] Ready: deploys/site.py" in said
    assert "container trainer · at risk  [device-exposure]" in said
    assert "docker: restart, 3 containers stop" in said


def test_our_own_deploy_runs_there_by_its_path(theirs: Path) -> None:
    deploy = next((theirs / "venv").glob("lib/python*/site-packages/pyinfra_nvml/deploys/audit.py"))
    done = run(theirs, str(deploy), "--dry", "-y")
    assert "1 node: 1 at risk" in done.stdout + done.stderr
    assert done.returncode == 1


def test_a_fact_is_asked_by_its_name(theirs: Path) -> None:
    done = run(theirs, "fact", "pyinfra_nvml.facts.node.Node")
    assert '"docker_engine"' in done.stdout + done.stderr


def test_their_modules_are_theirs(theirs: Path) -> None:
    asked = "import pyinfra_nvml.deploys, facts, operations; print(facts.__file__)"
    argv = [str(theirs / "venv" / "bin" / "python"), "-c", asked]
    done = subprocess.run(argv, cwd=theirs, capture_output=True, text=True, check=True, timeout=60)
    assert Path(done.stdout.strip()) == theirs / "facts" / "__init__.py"
