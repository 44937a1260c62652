"""The way back from the last write: what restoring does, and what it leaves alone."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from pyinfra_nvml.facts.last_write import LastWrite, LastWriteState
from pyinfra_nvml.plans import restore_plan as restore
from tests import recordings
from tests.test_plan import file

PATH = "/etc/docker/daemon.json"
NEW = b'{"exec-opts": ["native.cgroupdriver=cgroupfs"]}'
OLD = b'{"exec-opts": ["native.cgroupdriver=systemd"]}'


def total(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def written(before: bytes, after: bytes = NEW, **more: bool) -> LastWriteState:
    return LastWriteState(PATH, before, total(before), total(after), "20261130T091400Z", **more)


def planned(now: bytes, last: LastWriteState, node: str = "forky_cgroupfs") -> restore.Restore:
    """The plan for a recorded node with this daemon.json; its engine is on cgroupfs."""
    return restore.plan_restore(recordings.node(node, {"daemon_json.files": file(now)}), last)


def test_the_file_of_before_is_put_back_and_the_engine_restarted() -> None:
    made = planned(NEW, written(OLD))
    assert (made.plan.refusals, made.plan.after, made.plan.restart) == ((), OLD, True)
    assert (made.plan.driver, made.named, made.unfinished) == ("systemd", True, False)


def test_a_file_that_the_engine_would_not_start_with_is_not_put_back() -> None:
    """It was broken when the fix came: to put it back would end the engine at its next start."""
    made = planned(NEW, written(b'{"exec-opts": ["native.cgroupdriver=cgroupsfs"]}'))
    assert not made.plan.acts
    assert [str(one) for one in made.plan.refusals] == [
        f"{PATH} of before, exec-opts native.cgroupdriver: saw cgroupsfs, want cgroupfs or systemd"
    ]


@pytest.mark.parametrize(
    ("unproven", "now", "restart"), [(True, OLD, True), (False, OLD, False), (True, b"{}", False)]
)
def test_a_restore_that_died_before_the_restart_goes_on(
    unproven: bool, now: bytes, restart: bool
) -> None:
    """It put the file back; unless a restart has proven it, or the file is another by now."""
    made = planned(now, written(NEW, OLD, restored=True, unproven=unproven))
    assert (made.unfinished, made.plan.restart, made.plan.write) == (restart, restart, False)
    assert made.plan.refusals == ()


def test_what_is_restored_and_runs_needs_nothing() -> None:
    last = written(OLD, NEW, restored=True, unproven=True)
    made = planned(NEW, last)
    assert not made.plan.acts
    assert made.plan.idle == "the file of before is in place, and the engine is on cgroupfs"


@pytest.mark.skipif(os.getuid() != 0, reason="the state directory is root's")
@pytest.mark.parametrize("before", [b"", OLD])
def test_an_empty_file_is_a_file_of_before_too(tmp_path: Path, before: bytes) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "one").write_bytes(before)
    kept = {"path": PATH, "backup": "one", "before": total(before), "after": total(NEW), "at": "T"}
    record = "".join(f"{key} {value}\n" for key, value in kept.items())
    (tmp_path / "written").write_text(record)
    fact = LastWrite()
    told = subprocess.run(["sh", "-c", fact.command(str(tmp_path))], capture_output=True, text=True)
    wanted = LastWriteState(PATH, before, total(before), total(NEW), "T", unproven=True)
    assert fact.process(told.stdout.splitlines()) == wanted
