"""The restart of Docker on real nodes, and what breaks in on it."""

import time
from dataclasses import replace

from pyinfra_nvml.operations.restart_result import RestartOutcome, Return
from tests.lab import containers
from tests.lab.remedy import RESTART, STATE, WRITE, Remedy
from tests.lab.restarted import as_before, cured, until, ways


def test_the_whole_way(remedy: Remedy) -> None:
    containers.start(remedy.node, "spare", "none", "--restart", "always")
    remedy.node.sh("docker stop --time 0 spare")
    began = remedy.node.sh("date +%s")
    done = remedy.run()
    assert done.code == 0, done.text
    assert remedy.last().verdict is RestartOutcome.OK
    assert "container spare: runs now and did not before" in done.text
    assert ways(remedy) == {
        "spare": Return.NEW,
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
    assert remedy.last().verdict is RestartOutcome.OK
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
    assert remedy.last().verdict is RestartOutcome.OK
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


def test_a_container_that_does_not_come_back(remedy: Remedy) -> None:
    """Its bind mount's source is gone: told now, started by the next run once it is there."""
    remedy.node.sh(
        "mkdir -p /srv/data;"
        "docker run -d --name needy --mount type=bind,src=/srv/data,dst=/data lab-busybox;"
        "rmdir /srv/data"
    )
    done = remedy.run()
    assert done.code == 1
    assert remedy.last().verdict is RestartOutcome.INCOMPLETE
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
