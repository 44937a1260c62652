"""What leaves the node of docker.service's files: options, and no value that may be a secret."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.facts import unit_words
from pyinfra_nvml.model.unknown import Unknown
from tests.node_scripts import SHELLS

ENGINE = "ExecStart=/usr/bin/dockerd -H fd:// --log-opt token=s3cret\n"
PLACES = ("control", "etc", "run", "lib")


def asked(place: Path, shell: str) -> str:
    """The answer of the shell's part, with the places of systemd below a directory of ours."""
    source = unit_words.ENVIRONMENT + unit_words.ON_DISK
    places = " ".join(str(place / name) for name in PLACES)
    source = source.replace(unit_words._PLACES, places)
    done = subprocess.run([*SHELLS[shell], "-c", source], capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(params=sorted(SHELLS))
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the files have to be root's")


def test_drop_ins_in_their_order(tmp_path: Path, shell: str) -> None:
    put(tmp_path / "lib/docker.service", f"[Service]\n{ENGINE}")
    put(tmp_path / "opts", "# OPTS=no\nOPTS='--live-restore --label a=s3cret'\nPROXY=u:s3cret@x\n")
    put(
        tmp_path / "run/docker.service.d/10-flags.conf",
        "[Service]\nExecStart=\nExecStart=-/usr/bin/dockerd -H fd:// \\\n"
        "   --exec-opt native.cgroupdriver=systemd $OPTS \\\n  --config-file=/srv/d.json\n",
    )
    put(tmp_path / "etc/docker.service.d/20-env.conf", f"EnvironmentFile=-{tmp_path}/opts\n")
    put(tmp_path / "lib/docker.service.d/30-masked.conf", "ExecStart=\n")
    (tmp_path / "etc/docker.service.d/30-masked.conf").symlink_to("/dev/null")
    told = asked(tmp_path, shell)
    assert "s3cret" not in told
    assert unit_words.on_disk(told) == (
        "/usr/bin/dockerd",
        "-H",
        "--exec-opt",
        "native.cgroupdriver=systemd",
        "--live-restore",
        "--label",
        "--config-file=/srv/d.json",
    )


@pytest.mark.parametrize(
    "said",
    [
        'PROXY=u:s3cret@x "OPTS=--label a=s3cret --live-restore" B=c',
        "'OPTS=--label a=s3cret --live-restore'",
        "OPTS=--label a=s3cret --live-restore",
    ],
)
def test_variables_of_the_unit_itself(shell: str, said: str) -> None:
    """With quotes as systemctl shows them, and without as before systemd 246."""
    source = unit_words.ENVIRONMENT + "assignments"
    done = subprocess.run(
        [*SHELLS[shell], "-c", source], input=said + "\n", capture_output=True, text=True
    )
    assert "s3cret" not in done.stdout
    found = unit_words.variables(done.stdout)
    options = [word for words in found.values() for word in words]
    assert "--live-restore" in options
    if said[0] != "O":
        assert found["OPTS"] == ["--label", "--live-restore"]


def test_a_file_of_somebody_elses_is_not_read(tmp_path: Path, shell: str) -> None:
    put(tmp_path / "lib/docker.service", f"[Service]\n{ENGINE}")
    path = tmp_path / "etc/docker.service.d/x.conf"
    put(path, "ExecStart=\n")
    os.chown(path, 1234, 0)
    found = unit_words.on_disk(asked(tmp_path, shell))
    assert isinstance(found, Unknown)
    assert str(path) in found.reason


def test_a_pipe_is_not_waited_for(tmp_path: Path, shell: str) -> None:
    put(tmp_path / "lib/docker.service", f"[Service]\nEnvironmentFile={tmp_path}/pipe\n{ENGINE}")
    os.mkfifo(tmp_path / "pipe")
    assert isinstance(unit_words.on_disk(asked(tmp_path, shell)), Unknown)
