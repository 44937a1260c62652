"""The restart of Docker on real nodes, and what goes wrong in the middle of it."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from audit.restart_result import Return, Verdict
from tests.lab.errors import LabError
from tests.lab.remedy import PATH, RESTART, STATE, WRITE, Remedy
from tests.lab.session import Lab

BEFORE = b'{"log-level": "warn"}'

# Stand-ins for /usr/sbin/dockerd, which still answer for the real one in everything else.
REAL_FOR_QUESTIONS = 'case "$*" in *--help*|*--validate*) exec /usr/sbin/dockerd.real "$@";; esac\n'
WILL_NOT_START = f"""#!/bin/sh
{REAL_FOR_QUESTIONS}
if grep -q cgroupfs {PATH}; then echo 'failed to start daemon: not this file' >&2; exit 1; fi
exec /usr/sbin/dockerd.real "$@"
"""
KEEPS_THE_DRIVER = f"""#!/bin/sh
{REAL_FOR_QUESTIONS}
sed s/cgroupfs/systemd/ {PATH} >/run/other.json
exec /usr/sbin/dockerd.real "$@" --config-file /run/other.json
"""


@pytest.fixture(scope="module", params=["trixie", "bookworm"])
def own(
    request: pytest.FixtureRequest, lab: Lab, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Remedy]:
    node = lab.fresh(request.param)
    yield Remedy(node, tmp_path_factory.mktemp("restart"))
    lab.stop(node)


@pytest.fixture
def remedy(own: Remedy) -> Remedy:
    own.reset(BEFORE)
    own.fill()
    return own


def ways(remedy: Remedy) -> dict[str, Return]:
    return {container.name: container.how for container in remedy.last().containers}


def cured(remedy: Remedy) -> None:
    """The driver, every key, every container that should run, nothing left, nothing more to do."""
    assert remedy.driver() == "cgroupfs"
    assert {"policy", "plain"} <= remedy.running()
    held = json.loads(remedy.node.read(PATH))
    assert held == {"log-level": "warn", "exec-opts": ["native.cgroupdriver=cgroupfs"]}
    assert remedy.left_over() == []
    again = remedy.run()
    assert again.code == 0
    assert again.text.count("No changes") == 2, again.text


def as_before(remedy: Remedy) -> None:
    """Nothing changed in the end, and the engine is up."""
    assert remedy.driver() == "systemd"
    assert remedy.node.read(PATH) == BEFORE
    assert {"policy", "plain"} <= remedy.running()
    assert remedy.left_over() == []


def until(holds: object, limit: float = 60) -> None:
    end = time.monotonic() + limit
    while not holds():  # type: ignore[operator]
        if time.monotonic() > end:
            raise LabError("it did not happen in time")
        time.sleep(0.2)


def test_the_whole_way(remedy: Remedy) -> None:
    began = remedy.node.sh("date +%s")
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.last().verdict is Verdict.OK
    assert ways(remedy) == {
        "policy": Return.POLICY,
        "plain": Return.STARTED,
        "brief": Return.REMOVED,
    }
    cured(remedy)
    assert remedy.node.sh("systemctl list-units --all --no-legend 'pyinfra*'") == ""
    assert "Reloading" not in remedy.node.sh(f"journalctl -b -o cat _PID=1 --since @{began}")


def test_a_dry_run_touches_nothing(remedy: Remedy) -> None:
    done = remedy.run(WRITE + RESTART, "--dry", "--diff")
    assert done.code == 0
    assert '"exec-opts": ["native.cgroupdriver=cgroupfs"]' in done.text
    assert remedy.node.run(f"test -e {STATE}").code == 1
    as_before(remedy)


def test_killed_after_the_write(remedy: Remedy) -> None:
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    assert remedy.driver() == "systemd"
    assert remedy.run().code == 0
    cured(remedy)


def test_killed_during_the_restart(remedy: Remedy) -> None:
    process = remedy.start()
    until(lambda: remedy.node.run(f"test -s {STATE}/ran").code == 0)
    process.kill()
    process.communicate()
    until(lambda: remedy.node.run(f"ls {STATE}/results/*").code == 0)
    assert remedy.last().verdict is Verdict.OK
    cured(remedy)


def test_the_wire_cut_during_the_restart(remedy: Remedy) -> None:
    process = remedy.start()
    until(lambda: remedy.node.run(f"test -s {STATE}/ran").code == 0)
    remedy.node.cut_wire()
    time.sleep(15)
    process.kill()
    process.communicate()
    remedy.node.mend_wire()
    until(remedy.node.door.answers)
    assert remedy.last().verdict is Verdict.OK
    cured(remedy)


def test_the_transaction_killed(remedy: Remedy) -> None:
    """The node's own process dies right after the engine was told to restart."""
    process = remedy.start()
    until(lambda: remedy.node.run(f"test -s {STATE}/ran").code == 0)
    remedy.node.sh("systemctl kill -s KILL pyinfra-nvml-restart")
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "ended without a result" in text
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.last().recovered
    cured(remedy)


def test_booted_between_write_and_restart(remedy: Remedy) -> None:
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    remedy.node.reboot()
    assert remedy.run().code == 0
    assert remedy.driver() == "cgroupfs"
    assert remedy.left_over() == []


def test_booted_during_the_restart(remedy: Remedy) -> None:
    """The boot starts what has a policy; the next run starts the rest."""
    process = remedy.start()
    until(lambda: remedy.node.run(f"test -s {STATE}/ran").code == 0)
    remedy.node.reboot()
    process.kill()
    process.communicate()
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.last().recovered
    cured(remedy)


def test_a_file_broken_since_the_start(remedy: Remedy) -> None:
    """It names the driver, and a key that no dockerd has: a restart would be the end."""
    broken = b'{"exec-opts": ["native.cgroupdriver=cgroupfs"], "nope": 1}'
    remedy.node.sh(f"cat >{PATH}", stdin=broken)
    done = remedy.run()
    assert done.code == 1
    assert "nope" in done.text
    assert remedy.driver() == "systemd"
    assert {"policy", "plain", "brief"} <= remedy.running()
    assert remedy.left_over() == []


def test_stopped_on_purpose(remedy: Remedy) -> None:
    """What someone stopped is not started; its next start reads the file."""
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    remedy.node.sh("systemctl stop docker.socket docker.service", limit=120)
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.last().verdict is Verdict.STOPPED
    assert remedy.node.run("systemctl is-active docker").stdout.strip() == "inactive"
    remedy.node.sh("systemctl start docker.socket docker.service", limit=120)
    assert remedy.driver() == "cgroupfs"


def test_an_engine_of_no_unit_is_left_alone(remedy: Remedy) -> None:
    remedy.node.sh("systemctl stop docker.socket docker.service; rm -f /run/docker.pid", limit=120)
    remedy.node.sh(
        "setsid dockerd >/dev/null 2>&1 </dev/null &"
        "until docker info >/dev/null 2>&1; do sleep 1; done"
    )
    done = remedy.run()
    assert done.code == 1
    assert remedy.last().verdict is Verdict.REFUSED
    assert remedy.last().reasons == ("the dockerd that answers is not that of docker.service",)
    assert remedy.driver() == "systemd"
    remedy.node.sh("kill $(pidof dockerd); while pidof dockerd; do sleep 0.2; done")


def test_a_dockerd_that_will_not_start(remedy: Remedy) -> None:
    remedy.replace_dockerd(WILL_NOT_START)
    done = remedy.run()
    assert done.code == 1
    last = remedy.last()
    assert last.verdict is Verdict.UNDONE
    assert "failed to start daemon: not this file" in last.reasons
    assert any("put back from" in line for line in last.undo)
    as_before(remedy)


def test_a_dockerd_that_will_not_start_after_a_boot(remedy: Remedy) -> None:
    """The engine is down when the restart begins: the write is undone all the same."""
    remedy.replace_dockerd(WILL_NOT_START)
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    remedy.node.run("systemctl restart docker")
    until(lambda: remedy.node.run("systemctl is-failed docker").code == 0)
    done = remedy.run()
    assert done.code == 1
    assert remedy.last().verdict is Verdict.UNDONE
    assert remedy.driver() == "systemd"
    assert remedy.node.read(PATH) == BEFORE
    assert "policy" in remedy.running()


def test_a_dockerd_that_keeps_the_driver(remedy: Remedy) -> None:
    remedy.replace_dockerd(KEEPS_THE_DRIVER)
    done = remedy.run()
    assert done.code == 1
    last = remedy.last()
    assert last.verdict is Verdict.UNDONE
    assert last.reasons == ("docker info says cgroup driver systemd",)
    as_before(remedy)


def test_a_start_limit_used_up(remedy: Remedy) -> None:
    remedy.node.sh("for i in 1 2 3; do systemctl restart docker || true; done", limit=120)
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.driver() == "cgroupfs"


def test_a_stop_that_takes_its_time(remedy: Remedy) -> None:
    remedy.slow_down(60)
    done = remedy.run()
    assert done.code == 0, done.text
    assert (remedy.last().seconds or 0) >= 60
    cured(remedy)


def test_a_container_that_does_not_come_back(remedy: Remedy) -> None:
    """Its bind mount's source is gone: told now, started by the next run once it is there."""
    remedy.node.sh(
        "mkdir -p /srv/data;"
        "docker run -d --name needy --mount type=bind,src=/srv/data,dst=/data lab-busybox;"
        "rmdir /srv/data"
    )
    done = remedy.run()
    assert done.code == 1
    assert remedy.last().verdict is Verdict.INCOMPLETE
    (needy,) = (each for each in remedy.last().containers if each.name == "needy")
    assert needy.how is Return.FAILED
    assert "/srv/data" in needy.words
    assert remedy.driver() == "cgroupfs"
    remedy.node.sh("mkdir /srv/data")
    assert remedy.run().code == 0
    assert ways(remedy) == {"needy": Return.STARTED}
    cured(remedy)


def test_two_runs_at_once(remedy: Remedy) -> None:
    first = remedy.start()
    until(lambda: remedy.node.run(f"test -s {STATE}/ran").code == 0)
    second = remedy.start()
    for process in (first, second):
        text, _ = process.communicate(timeout=180)
        assert process.returncode == 0, text
    cured(remedy)


def test_live_restore_keeps_what_runs(remedy: Remedy) -> None:
    """Docker 20.10 takes a running ``--rm`` container away when it starts; 26.1 does not."""
    remedy.reset(b'{"log-level": "warn", "live-restore": true}')
    remedy.fill()
    done = remedy.run()
    assert done.code == 0, done.text
    brief = Return.REMOVED if remedy.node.kind.name == "bookworm" else Return.KEPT
    assert ways(remedy) == {"policy": Return.KEPT, "plain": Return.KEPT, "brief": brief}
    assert {"policy", "plain"} <= remedy.running()


def test_users_who_are_not_root(remedy: Remedy) -> None:
    """Without sudo it is refused, with it done."""
    refused = replace(remedy, user="operator").run(WRITE)
    assert refused.code == 1
    assert "want root" in refused.text
    as_before(remedy)
    done = replace(remedy, user="admin").run(WRITE + RESTART, "-y", "--sudo")
    assert done.code == 0, done.text
    cured(remedy)
