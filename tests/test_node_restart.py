"""The restart's parts by themselves: full disks, clocks, containers that come back otherwise."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from pyinfra_nvml.operations import node
from tests.node_scripts import SHELLS, Sandbox, stand_in

RAN = "2026-11-30T09:14:00.1 {id} /{name} no false false -\n"
PLAIN, WEB = "a" * 64, "b" * 64
TELL_ROWS = f"""case $1 in
ps) echo {PLAIN} ;;
inspect) echo '2026-11-30T09:14:00.1Z {PLAIN} /plain no false false -' ;;
esac"""
RECORD = (
    node.script("say", "state", "lock", "engine", "containers")
    + """
state=$1 driver_before=systemd
record_running || { echo "$unrecorded" >&2; exit 1; }
"""
)
BEGIN = node.script("say", "state", "lock", "validate", "begin_restart")
COME_UP = (
    node.script("say", "state", "engine")
    + """
has_systemd() { false; }
patience=30
come_up
"""
)
AFTER = (
    node.script("say", "state", "containers")
    + """
state=$1
after_all "$2" "$3" "$4"
echo "$how, $rest"
"""
)

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the scripts want root")


@pytest.fixture(params=sorted(SHELLS))
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path, request.param).with_state()


def test_what_runs_stands_behind_what_is_still_down(sandbox: Sandbox) -> None:
    stand_in(sandbox.bin, "docker", TELL_ROWS)
    ran = sandbox.state / "ran"
    for _ in range(2):
        told = sandbox.run(RECORD, str(sandbox.state))
        assert told.returncode == 0, told.stderr
        assert ran.read_text() == RAN.format(id=PLAIN, name="plain")
    ran.write_text(RAN.format(id=WEB, name="web"))
    assert sandbox.run(RECORD, str(sandbox.state)).returncode == 0
    assert ran.read_text() == RAN.format(id=WEB, name="web") + RAN.format(id=PLAIN, name="plain")


def test_a_list_that_finds_no_room_is_no_list(sandbox: Sandbox) -> None:
    """/dev/full takes nothing; a restart without the list would leave containers down, unnamed."""
    stand_in(sandbox.bin, "docker", TELL_ROWS)
    (sandbox.state / "ran.new").symlink_to("/dev/full")
    told = sandbox.run(RECORD, str(sandbox.state))
    assert told.returncode == 1
    assert told.stderr == f"no room in {sandbox.state} for the list of what runs\n"
    assert not (sandbox.state / "ran").exists()


def test_an_engine_that_is_up_and_says_nothing_is_not_stopped(sandbox: Sandbox) -> None:
    """It hangs: its containers run, and without a list of them some would stay down."""
    stand_in(sandbox.bin, "docker", "exit 1")
    hangs = "has_systemd() { :; }; unit() { echo active; }; state=$1 driver_before=''\n"
    source = RECORD.replace("state=$1 driver_before=systemd\n", hangs)
    told = sandbox.run(source, str(sandbox.state))
    assert (told.returncode, told.stderr) == (1, "it did not say what runs\n")
    down = sandbox.run(source.replace("echo active", "echo failed"), str(sandbox.state))
    assert down.returncode == 0, down.stderr
    assert (sandbox.state / "ran").read_text() == ""


def test_no_restart_begins_without_room_for_its_result(sandbox: Sandbox) -> None:
    (sandbox.state / "room").symlink_to("/dev/full")
    total = hashlib.sha256(b"true\n").hexdigest()
    told = sandbox.run(BEGIN, str(sandbox.state), "cgroupfs", "9", total, stdin="true\n")
    assert told.returncode == 1
    assert f"{sandbox.state}: saw no room for 256 KiB, want it" in told.stderr
    assert not (sandbox.state / "restart.sh").exists()


def test_a_dockerd_that_is_being_replaced_is_not_restarted(sandbox: Sandbox) -> None:
    total = hashlib.sha256(b"true\n").hexdigest()
    file, gone = sandbox.etc / "daemon.json", str(sandbox.bin / "dockerd")
    file.write_text("{}")
    given = str(sandbox.state), "cgroupfs", "9", total, str(file), gone, "-H", "fd://"
    told = sandbox.run(BEGIN, *given, stdin="true\n")
    assert told.returncode == 1
    assert f"{gone}: saw no such program, want the dockerd that a restart starts" in told.stderr


def test_a_state_directory_that_takes_nothing_is_told(sandbox: Sandbox) -> None:
    (sandbox.state / "lock").symlink_to("/proc/none/lock")
    told = sandbox.run(BEGIN, str(sandbox.state), "cgroupfs", "9", "-", stdin="true\n")
    assert told.returncode != 0
    assert told.stderr.startswith(f"{sandbox.state}: saw ")
    assert told.stderr.endswith("want a directory that can be written to\n")


def test_an_engine_that_was_left_down_is_told_first(sandbox: Sandbox) -> None:
    """The transaction's stand-in writes its result; what the engine says stands in front of it."""
    transaction = (
        """printf '%s\\n' "id $3" 'reason bad bip' 'verdict down' end >"$1/results/$3"\n"""
    )
    total = hashlib.sha256(transaction.encode()).hexdigest()
    stand_in(sandbox.bin, "systemd-run", "exit 1")
    begin = BEGIN.replace("[ -d /run/systemd/system ] && command", "false && command")
    told = sandbox.run(begin, str(sandbox.state), "cgroupfs", "9", total, stdin=transaction)
    assert told.returncode == 1
    first, second, *_, last = told.stderr.splitlines()
    assert first.startswith("docker: THE ENGINE IS DOWN on this node, and every container with it")
    assert second == "  bad bip"
    assert last.startswith("docker: saw it down, want it up: ")


def test_a_clock_that_is_set_forward_ends_no_wait(sandbox: Sandbox) -> None:
    """The engine answers at the third question; an hour goes by on the clock at each."""
    stand_in(
        sandbox.bin,
        "docker",
        'echo x >>"$0.asked"; [ "$(wc -l <"$0.asked")" -lt 3 ] || echo cgroupfs',
    )
    stand_in(sandbox.bin, "date", 'echo x >>"$0.asked"; echo $(($(wc -l <"$0.asked") * 3600))')
    assert sandbox.run(COME_UP).stdout == "cgroupfs\n"


@pytest.mark.parametrize(
    ("how", "by_id", "by_name", "wanted"),
    [
        ("started", "true false T 0", "", "started, -"),
        ("started", "false false T 0", "", "started, it ended at once, exit 0"),
        ("started", "false false T 137", "", "failed, it ended at once, exit 137"),
        ("started", "", "true false T 0", "renewed, another container of its name runs"),
        ("failed", "", "true false T 0", "renewed, another container of its name runs"),
        ("removed", "", "true false T 0", "renewed, another container of its name runs"),
        ("removed", "", "", "removed, -"),
        ("policy", "", "", "failed, no such container any more"),
        ("failed", "false false T 1", "", "failed, -"),
    ],
)
def test_how_a_container_came_back_after_all(
    sandbox: Sandbox, how: str, by_id: str, by_name: str, wanted: str
) -> None:
    said = (
        f'for last; do :; done; case $last in aaaa) echo "{by_id}" ;; *) echo "{by_name}" ;; esac'
    )
    stand_in(sandbox.bin, "docker", said)
    source = AFTER.replace("after_all", f"how={how} rest=-\nafter_all")
    told = sandbox.run(source, str(sandbox.state), "aaaa", how, "web")
    assert told.stdout == wanted + "\n", told.stderr
