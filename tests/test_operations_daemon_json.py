"""The write of daemon.json on a file system of this machine, with a stand-in for dockerd."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from pyinfra_nvml.operations import node
from tests.node_scripts import SHELLS, Sandbox, payload, stand_in

SOURCE = node.script(
    "say", "state", "lock", "replace", "validate", "config_file", "write_daemon_json"
)
OLD, NEW = b'{"a": 1}\n', b'{"a": 1, "exec-opts": ["native.cgroupdriver=cgroupfs"]}\n'

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the script wants root")

DOCKERD = """case "$*" in
--help) echo '      --validate  Validate daemon configuration and exit' ;;
*) echo "$@" >"$0.called"; cat "$3" >"$0.saw" ;;
esac"""


@pytest.fixture(params=sorted(SHELLS))
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path, request.param)
    stand_in(made.bin, "dockerd", DOCKERD)
    return made


def write(
    sandbox: Sandbox, path: Path, before: bytes | None, after: bytes = NEW, *flags: str
) -> subprocess.CompletedProcess[str]:
    given = str(path), str(sandbox.state), "cgroupfs", "dockerd", *flags
    return sandbox.run(SOURCE, *given, stdin=payload(before, after))


def left_over(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("."))


def test_the_file_is_replaced_and_the_old_one_kept(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    path.chmod(0o640)
    os.chown(path, 0, 4)
    told = write(sandbox, path, OLD, NEW, "-H", "fd://")
    assert told.returncode == 0, told.stderr
    assert path.read_bytes() == NEW
    info = path.stat()
    assert (stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid) == (0o640, 0, 4)
    (backup,) = (sandbox.state / "backups").iterdir()
    assert backup.read_bytes() == OLD
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(sandbox.state.stat().st_mode) == 0o700
    assert sandbox.journal() == [f"write {path} driver cgroupfs backup {backup.name}"]
    assert (sandbox.bin / "dockerd.saw").read_bytes() == NEW
    called = (sandbox.bin / "dockerd.called").read_text()
    assert called.startswith("--validate --config-file ")
    assert called.endswith("-H fd://\n")
    assert left_over(sandbox.etc) == []


def test_an_absent_file_is_made(sandbox: Sandbox) -> None:
    path = sandbox.etc / "docker" / "daemon.json"
    told = write(sandbox, path, None)
    assert told.returncode == 0, told.stderr
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755
    assert "backup absent" in (sandbox.state / "written").read_text()


def test_a_link_stays_and_its_target_changes(sandbox: Sandbox) -> None:
    target = sandbox.root / "real.json"
    target.write_bytes(OLD)
    path = sandbox.etc / "daemon.json"
    path.symlink_to(target)
    assert write(sandbox, path, OLD).returncode == 0
    assert path.is_symlink()
    assert target.read_bytes() == NEW


def refused(sandbox: Sandbox, told: subprocess.CompletedProcess[str], *words: str) -> None:
    assert told.returncode != 0
    for word in words:
        assert word in told.stderr
    assert left_over(sandbox.etc) == []
    assert sandbox.journal() == []


def test_a_file_changed_meanwhile_is_left_alone(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(b'{"b": 2}')
    refused(sandbox, write(sandbox, path, OLD), "other bytes than a moment ago")
    assert path.read_bytes() == b'{"b": 2}'


def test_a_file_that_came_meanwhile_is_left_alone(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    refused(sandbox, write(sandbox, path, None), "other bytes than a moment ago")
    assert path.read_bytes() == OLD


def test_a_directory_and_a_dangling_link_are_left_alone(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.mkdir()
    refused(sandbox, write(sandbox, path, None), "a directory, want a file")
    path.rmdir()
    path.symlink_to(sandbox.root / "nowhere")
    refused(sandbox, write(sandbox, path, None), "which is not there")


def test_what_dockerd_refuses_is_not_written(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    body = (
        "case $1 in --help) echo ' --validate';; *) echo 'unable to configure' >&2; exit 1;; esac"
    )
    stand_in(sandbox.bin, "dockerd", body)
    refused(sandbox, write(sandbox, path, OLD), "dockerd --validate: unable to configure")
    assert path.read_bytes() == OLD


def test_an_old_dockerd_cannot_be_asked(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    stand_in(sandbox.bin, "dockerd", "[ $1 = --help ] || exit 1")
    told = write(sandbox, path, OLD)
    assert told.returncode == 0, told.stderr
    assert "validate not-known" in told.stdout


def test_a_cut_connection_leaves_the_file(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    given = str(path), str(sandbox.state), "cgroupfs", "dockerd"
    told = sandbox.run(SOURCE, *given, stdin=payload(OLD, NEW)[:-21])
    refused(sandbox, told, "not the whole new file")
    assert path.read_bytes() == OLD
    refused(sandbox, sandbox.run(SOURCE, *given, stdin=""), "no standard input")


def test_the_last_ten_backups_are_kept(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    backups = sandbox.state / "backups"
    backups.mkdir(parents=True)
    for day in range(10, 22):
        (backups / f"daemon.json.202601{day}T000000Z").write_text("old")
    path.write_bytes(OLD)
    assert write(sandbox, path, OLD).returncode == 0
    names = sorted(entry.name for entry in backups.iterdir())
    assert len(names) == 10
    assert names[0] == "daemon.json.20260113T000000Z"
    assert (backups / names[-1]).read_bytes() == OLD


def test_a_killed_run_leaves_nothing_for_the_next(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    (sandbox.etc / ".pyinfra-nvml.abcdef").write_text("half")
    assert write(sandbox, path, OLD).returncode == 0
    assert left_over(sandbox.etc) == []


def test_nothing_is_written_where_no_restart_could_follow(sandbox: Sandbox) -> None:
    """A restart writes down what runs; without room for that, the file would wait for a reboot."""
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    sandbox.with_state()
    (sandbox.state / "room").symlink_to("/dev/full")
    told = write(sandbox, path, OLD)
    refused(sandbox, told, f"{sandbox.state}: saw no room for 256 KiB, want it")
    assert path.read_bytes() == OLD


def test_the_room_is_given_back(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    assert write(sandbox, path, OLD).returncode == 0
    assert not (sandbox.state / "room").exists()


def test_names_with_spaces_and_quotes(sandbox: Sandbox) -> None:
    path = sandbox.etc / "it's $(touch x) ; here" / "daemon.json"
    path.parent.mkdir()
    path.write_bytes(OLD)
    assert write(sandbox, path, OLD, NEW, "--label", "a b'c").returncode == 0
    assert path.read_bytes() == NEW


@pytest.fixture
def small(sandbox: Sandbox) -> Sandbox:
    """The sandbox with /etc on a file system of its own, of 64 KiB."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", sandbox.etc], check=False
    )
    if mounted.returncode:
        pytest.skip("no mounts here")
    return sandbox


def test_a_full_disk_leaves_the_file(small: Sandbox) -> None:
    path = small.etc / "daemon.json"
    try:
        path.write_bytes(OLD)
        new = b'{"a": "' + b"x" * 70000 + b'"}'
        said = "0 KiB free" if small.shell == "busybox" else "No space left on device"
        refused(small, write(small, path, OLD, new), said)
        assert path.read_bytes() == OLD
    finally:
        subprocess.run(["umount", small.etc], check=True)


def test_a_read_only_disk_leaves_the_file(small: Sandbox) -> None:
    path = small.etc / "daemon.json"
    try:
        path.write_bytes(OLD)
        subprocess.run(["mount", "-o", "remount,ro", small.etc], check=True)
        refused(small, write(small, path, OLD), "Read-only file system")
        assert path.read_bytes() == OLD
    finally:
        subprocess.run(["umount", small.etc], check=True)


@pytest.mark.parametrize("sandbox", ["dash", "bash"], indirect=True)
def test_attributes_are_kept(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    try:
        os.setxattr(path, "user.origin", b"by hand")
    except OSError:
        pytest.skip("no extended attributes on this file system")
    assert write(sandbox, path, OLD).returncode == 0
    assert os.getxattr(path, "user.origin") == b"by hand"


def test_a_second_run_waits_for_the_first(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    sandbox.state.mkdir(mode=0o700)
    if not shutil.which("flock"):
        pytest.skip("no flock on this machine")
    holder = subprocess.Popen(["flock", sandbox.state / "lock", "sleep", "3"])
    time.sleep(0.5)
    began = time.monotonic()
    assert write(sandbox, path, OLD).returncode == 0
    assert time.monotonic() - began > 1.5
    holder.wait()


def test_a_disk_that_fails_is_seen_before_the_rename(sandbox: Sandbox) -> None:
    """What fsync(2) says, in the words of sync(1)."""
    if sandbox.shell == "busybox":
        pytest.skip("busybox takes its own sync, whatever stands on the PATH")
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    stand_in(
        sandbox.bin,
        "sync",
        "case $1 in */.pyinfra*) echo \"sync: error syncing '$1':"
        ' Input/output error" >&2; exit 1 ;; esac',
    )
    told = write(sandbox, path, OLD)
    assert told.returncode == 1
    assert "Input/output error, want all of the new file on the disk" in told.stderr
    assert path.read_bytes() == OLD
    assert left_over(sandbox.etc) == []


def test_a_backup_outlives_those_of_a_clock_that_was_ahead(sandbox: Sandbox) -> None:
    path = sandbox.etc / "daemon.json"
    path.write_bytes(OLD)
    backups = sandbox.state / "backups"
    backups.mkdir(parents=True)
    for day in range(10, 24):
        (backups / f"daemon.json.209901{day}T000000Z").write_bytes(b"")
    told = write(sandbox, path, OLD)
    assert told.returncode == 0, told.stderr
    (made,) = (each for each in backups.iterdir() if not each.name.startswith("daemon.json.2099"))
    assert made.read_bytes() == OLD
    assert f"backup {made.name}" in (sandbox.state / "written").read_text()


def test_only_a_new_file_gets_the_systems_label(sandbox: Sandbox) -> None:
    """restorecon(8) would take away a label that someone gave the file; a copy has it already."""
    path = sandbox.etc / "daemon.json"
    stand_in(sandbox.bin, "restorecon", 'echo "$@" >"$0.called"')
    assert write(sandbox, path, None).returncode == 0
    called = sandbox.bin / "restorecon.called"
    assert called.read_text() == f"{path}\n"
    called.unlink()
    assert write(sandbox, path, NEW, OLD).returncode == 0
    assert not called.exists()
