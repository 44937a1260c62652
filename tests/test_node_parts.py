"""The parts of the node's scripts by themselves, in every shell they have to run in."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.operations import node
from tests.node_scripts import SHELLS, Sandbox

# A function may take the place of `command` (POSIX sh, 2.9.1): so flock seems not to be there.
NO_FLOCK = 'command() { [ "$2" != flock ] && "$(which which)" "$2"; }\n'

SCRIPTS = sorted(Path(node.__file__).parent.glob("*.sh"))

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the scripts want root")


@pytest.fixture(params=sorted(SHELLS))
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path, request.param).with_state()


@pytest.mark.parametrize(
    ("span", "wanted"),
    [
        ("1min 30s", "90"),
        ("45s", "45"),
        ("100ms", "0"),
        ("1h", "600"),
        ("infinity", "600"),
        ("2min", "120"),
        ("", "0"),
    ],
)
def test_time_spans(sandbox: Sandbox, span: str, wanted: str) -> None:
    source = node.script("say", "engine") + 'seconds "$1"\n'
    assert sandbox.run(source, span).stdout.strip() == wanted


@pytest.mark.parametrize("flock", ["", NO_FLOCK], ids=["flock", "no_flock"])
def test_a_lock_is_taken_and_given_back(sandbox: Sandbox, flock: str) -> None:
    source = flock + node.script("say", "state", "lock") + "state=$1\n"
    source += "lock_free && echo free; lock 0 && echo mine; unlock; lock_free && echo free again\n"
    told = sandbox.run(source, str(sandbox.state))
    assert told.stdout.splitlines() == ["free", "mine", "free again"], told.stderr


@pytest.mark.parametrize("flock", ["", NO_FLOCK], ids=["flock", "no_flock"])
def test_a_second_run_is_kept_out(sandbox: Sandbox, flock: str) -> None:
    source = flock + node.script("say", "state", "lock") + "state=$1\n"
    holder = subprocess.Popen(
        [
            *SHELLS[sandbox.shell],
            "-c",
            source + "lock 0 && echo held && sleep 30",
            "x",
            sandbox.state,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    told = sandbox.run(
        source + "lock 1 || echo kept out; lock_free || echo held", str(sandbox.state)
    )
    assert told.stdout.split("\n")[:2] == ["kept out", "held"]
    holder.kill()
    holder.wait()


def test_without_flock_a_dead_holder_is_no_holder(sandbox: Sandbox) -> None:
    source = NO_FLOCK + node.script("say", "state", "lock") + "state=$1\n"
    for dead in ("999999 1 some-boot", "1 1 another-boot", "1 99999999999999 x"):
        (sandbox.state / "lock.owner").symlink_to(dead)
        told = sandbox.run(source + "lock 0 && echo mine && unlock", str(sandbox.state))
        assert told.stdout == "mine\n", told.stderr
        assert list(sandbox.state.glob("lock.*")) == []


UNDO = node.script("say", "state", "lock", "replace", "undo") + 'state=$1\nput_back "$2"\n'


def written(sandbox: Sandbox, before: bytes | None, after: bytes) -> Path:
    """A file as the write leaves it, with its record."""
    target = sandbox.etc / "daemon.json"
    target.write_bytes(after)
    target.chmod(0o640)
    backup, old = "absent", "absent"
    if before is not None:
        backup, old = "daemon.json.20260101T000000Z", hashlib.sha256(before).hexdigest()
        (sandbox.state / "backups" / backup).write_bytes(before)
    lines = {
        "path": target,
        "target": target,
        "backup": backup,
        "before": old,
        "after": hashlib.sha256(after).hexdigest(),
    }
    text = "".join(f"{key} {value}\n" for key, value in lines.items())
    (sandbox.state / "written").write_text(text)
    return target


def test_the_old_file_is_put_back(sandbox: Sandbox) -> None:
    target = written(sandbox, b"old", b"new")
    told = sandbox.run(UNDO, str(sandbox.state), "no")
    assert told.returncode == 0, told.stderr
    assert target.read_bytes() == b"old"
    assert target.stat().st_mode & 0o777 == 0o640
    (failed,) = (sandbox.state / "backups").glob("*.failed")
    assert failed.read_bytes() == b"new"
    assert (sandbox.state / "written.undone").exists()
    assert not (sandbox.state / "written").exists()
    assert [entry.name for entry in sandbox.etc.iterdir()] == ["daemon.json"]


FULL = """mktemp() { echo 'mktemp: No space left on device' >&2; return 1; }
now() { echo T; }
"""


def test_without_room_for_a_second_file_the_old_one_comes_back(sandbox: Sandbox) -> None:
    """The engine is down with the new file: its blocks take the old bytes."""
    target = written(sandbox, b"old", b"new")
    (sandbox.state / "backups" / "daemon.json.T.failed").symlink_to("/dev/full")
    source = UNDO.replace("state=$1\n", FULL + "state=$1\n")
    told = sandbox.run(source, str(sandbox.state), "no")
    assert told.returncode == 0, told.stdout + told.stderr
    assert target.read_bytes() == b"old"
    assert target.stat().st_mode & 0o777 == 0o640


def test_what_someone_made_of_it_is_not_lost_for_want_of_room(sandbox: Sandbox) -> None:
    target = written(sandbox, b"old", b"new")
    target.write_bytes(b"by hand")
    (sandbox.state / "backups" / "daemon.json.T.failed").symlink_to("/dev/full")
    source = UNDO.replace("state=$1\n", FULL + "state=$1\n")
    assert sandbox.run(source, str(sandbox.state), "no").returncode == 1
    assert target.read_bytes() == b"by hand"


def test_a_file_that_was_not_there_goes(sandbox: Sandbox) -> None:
    target = written(sandbox, None, b"new")
    assert sandbox.run(UNDO, str(sandbox.state), "no").returncode == 0
    assert not target.exists()


def test_a_later_change_is_kept_where_the_engine_is_up(sandbox: Sandbox) -> None:
    target = written(sandbox, b"old", b"new")
    target.write_bytes(b"newer")
    told = sandbox.run(UNDO, str(sandbox.state), "yes")
    assert told.returncode == 1
    assert "changed after our write" in told.stdout
    assert target.read_bytes() == b"newer"
    assert sandbox.run(UNDO, str(sandbox.state), "no").returncode == 0
    assert target.read_bytes() == b"old"
    (failed,) = (sandbox.state / "backups").glob("*.failed")
    assert failed.read_bytes() == b"newer"


def test_a_backup_that_is_not_the_old_file_is_not_used(sandbox: Sandbox) -> None:
    target = written(sandbox, b"old", b"new")
    (sandbox.state / "backups" / "daemon.json.20260101T000000Z").write_bytes(b"rot")
    told = sandbox.run(UNDO, str(sandbox.state), "no")
    assert told.returncode == 1
    assert "other bytes than before the write" in told.stdout
    assert target.read_bytes() == b"new"


def test_nothing_of_ours_is_open(sandbox: Sandbox) -> None:
    told = sandbox.run(UNDO, str(sandbox.state), "no")
    assert told.returncode == 1
    assert "no write of ours is open" in told.stdout


def test_no_script_makes_systemd_read_its_units_again() -> None:
    """That would take the GPUs of exposed containers; enable and the like do it too."""
    reload = re.compile(r"systemctl.*\b(daemon-re|enable|disable|mask|unmask|preset|link|edit)")
    code = "".join(re.sub(r"(?m)^\s*#.*", "", script.read_text()) for script in SCRIPTS)
    assert "systemctl" in code
    assert reload.findall(code) == []


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="no shellcheck here")
def test_shellcheck_has_nothing_to_say() -> None:
    told = subprocess.run(["shellcheck", *SCRIPTS], capture_output=True, text=True)
    assert told.stdout == ""
