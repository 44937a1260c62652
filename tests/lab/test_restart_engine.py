"""Engines that do not do as they are told at a restart: undone, waited for, or left alone."""

import pytest

from pyinfra_nvml.operations.restart_result import RestartOutcome
from tests.lab.remedy import PATH, WRITE, Remedy
from tests.lab.restarted import BEFORE, as_before, cured, until

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
# It answers, and is killed two seconds later, at each of its starts.
DIES = f"""#!/bin/sh
{REAL_FOR_QUESTIONS}
if grep -q cgroupfs {PATH}; then
  (until docker info >/dev/null 2>&1; do sleep 0.2; done; sleep 2; kill -9 $$) &
fi
exec /usr/sbin/dockerd.real "$@"
"""


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


def test_an_engine_of_no_unit_is_left_alone(remedy: Remedy) -> None:
    remedy.node.sh("systemctl stop docker.socket docker.service; rm -f /run/docker.pid", limit=120)
    remedy.node.sh(
        "setsid dockerd >/dev/null 2>&1 </dev/null &"
        "until docker info >/dev/null 2>&1; do sleep 1; done"
    )
    done = remedy.run()
    assert done.code == 1
    assert remedy.last().verdict is RestartOutcome.REFUSED
    assert remedy.last().reasons == ("the dockerd that answers is not that of docker.service",)
    assert remedy.driver() == "systemd"
    remedy.node.sh("kill $(pidof dockerd); while pidof dockerd; do sleep 0.2; done")


def test_a_dockerd_that_will_not_start(remedy: Remedy) -> None:
    remedy.replace_dockerd(WILL_NOT_START)
    done = remedy.run()
    assert done.code == 1
    last = remedy.last()
    assert last.verdict is RestartOutcome.UNDONE
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
    assert remedy.last().verdict is RestartOutcome.UNDONE
    assert remedy.driver() == "systemd"
    assert remedy.node.read(PATH) == BEFORE
    assert "policy" in remedy.running()


def test_a_dockerd_that_keeps_the_driver(remedy: Remedy) -> None:
    remedy.replace_dockerd(KEEPS_THE_DRIVER)
    done = remedy.run()
    assert done.code == 1
    last = remedy.last()
    assert last.verdict is RestartOutcome.UNDONE
    assert last.reasons == ("docker info says cgroup driver systemd",)
    as_before(remedy)


@pytest.mark.parametrize("own", ["trixie"], indirect=True)
def test_a_dockerd_that_dies_after_its_first_answer(remedy: Remedy) -> None:
    """Before that, none at all: a package that is being replaced has no dockerd for a moment."""
    remedy.node.sh("mv /usr/sbin/dockerd /usr/sbin/dockerd.real")
    gone = remedy.run()
    assert gone.code == 1
    assert "/usr/sbin/dockerd: saw no such program" in gone.text
    as_before(remedy)
    remedy.node.sh("mv /usr/sbin/dockerd.real /usr/sbin/dockerd")
    remedy.replace_dockerd(DIES)
    done = remedy.run()
    assert done.code == 1
    assert remedy.last().verdict is RestartOutcome.UNDONE
    assert "it answered with cgroup driver cgroupfs, and has ended since" in remedy.last().reasons
    as_before(remedy)


def test_stopped_on_purpose(remedy: Remedy) -> None:
    """What someone stopped is not started; its next start reads the file."""
    wrote = remedy.run(WRITE)
    assert wrote.code == 0, wrote.text
    remedy.node.sh("systemctl stop docker.socket docker.service", limit=120)
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.last().verdict is RestartOutcome.STOPPED
    assert remedy.node.run("systemctl is-active docker").stdout.strip() == "inactive"
    remedy.node.sh("systemctl start docker.socket docker.service", limit=120)
    assert remedy.driver() == "cgroupfs"


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
