"""deploys/schedule_drift.py: a node that audits itself at set times and tells Slurm, a controller.

The node reaches nothing but the lab's bridge. Its container is exposed: a daemon-reload anywhere in
here takes its GPU away (systemd 252).
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.lab import cluster, containers, deployed, inventory
from tests.lab.node import Node
from tests.lab.session import Lab

RESULTS = "/var/lib/pyinfra-nvml-drift"
PROGRAM = "/opt/pyinfra-nvml/current/bin/nvml-audit"
PROM = f"{RESULTS}/nvml.prom"
AUDIT = f"{PROGRAM} /etc/pyinfra-nvml/inventory.py --results"
FLEET = "/etc/pyinfra-nvml/fleet.py"
UNIT = "pyinfra-nvml-drift.service"
RUN = f"systemctl start {UNIT}"
SETTINGS = {
    "drift_delay": 0,
    "drift_level": "broken",
    "drift_textfile": PROM,
    "drift_slurm": "broken",
}
WAIVER = {
    "check": "device-loss",
    "owner": "lab",
    "reason": "a test",
    "expires": "2999-12-31",
    "hosts": ["clus*"],
}

PAGES = [(deployed.ROOT / "docs" / name).read_text() for name in ("schedule.md", "slurm.md")]
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", "".join(PAGES), re.DOTALL)
    for line in block.replace("\\\n", "").splitlines()
]


@dataclass(frozen=True)
class Scheduled:
    """The node, and how the deploy is run on it."""

    node: Node
    hosts: Path

    def deploy(self, **settings: object) -> deployed.Outcome:
        given = {
            name: value for name, value in {**SETTINGS, **settings}.items() if value is not None
        }
        words = [f"--data={name}={value}" for name, value in given.items()]
        return deployed.run(self.hosts, "schedule_drift.py", "-y", *words, limit=500)

    def typed(self, words: str, more: str = "") -> None:
        """The one command of schedule.md and slurm.md that has these words, as it stands there."""
        (found,) = [each for each in COMMANDS if words in each]
        here = found.replace("controller.example", "inventories/example.py")
        done = subprocess.run(
            ["sh", "-c", f"{here.replace('inventories/example.py', str(self.hosts))} {more}"],
            cwd=deployed.ROOT,
            input="\n",  # pyinfra asks for Enter
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def drift(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.node.read(f"{RESULTS}/drift.json"))
        return found

    def kept(self) -> bool:
        return containers.answer(self.node, "trainer") == "ENXIO"


@pytest.fixture(scope="module")
def scheduled(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduled]:
    node = lab.fresh("cluster")
    hosts = inventory.write(tmp_path_factory.mktemp("schedule") / "inventory.py", [node])
    try:
        containers.start(node, "trainer", "gpus")
        yield Scheduled(node, hosts)
    finally:
        lab.stop(node)


def test_it_is_installed_without_a_network_or_a_reload(scheduled: Scheduled) -> None:
    node = scheduled.node
    assert "default" not in node.sh("ip route show")
    done = scheduled.deploy()
    assert done.code == 0, done.text
    assert scheduled.kept()
    again = scheduled.deploy()
    assert "Grand total" in again.text
    assert "Success" not in again.text.partition("--> Results")[0], again.text
    scheduled.typed("exec --")


def test_a_changed_timer_runs_at_its_time_without_a_reload(scheduled: Scheduled) -> None:
    node = scheduled.node
    before = scheduled.drift()["started"]
    for ahead in (15, 60, 240):  # The deploy has to end before, on a busy machine too.
        now = datetime.strptime(node.sh("date +%H:%M:%S"), "%H:%M:%S")
        done = scheduled.deploy(drift_schedule=f"*:{now + timedelta(seconds=ahead):%M:%S}")
        assert done.code == 0, done.text
        if "min left" not in node.sh("systemctl list-timers --no-legend 'pyinfra*'"):
            break
    assert node.sh("systemctl show -p NeedDaemonReload pyinfra-nvml-drift.timer").endswith("=no")
    end = time.monotonic() + 150
    while scheduled.drift()["started"] == before or scheduled.drift()["ended"] is None:
        assert time.monotonic() < end, node.sh("systemctl list-timers --all 'pyinfra*'")
        time.sleep(1)
    assert scheduled.drift()["exit"] == 0, scheduled.drift()
    assert scheduled.drift()["interval"] == 3600
    assert scheduled.kept()


def test_a_fault_between_two_runs_reaches_report_metric_code_and_slurm(
    scheduled: Scheduled,
) -> None:
    node = scheduled.node
    cluster.start(node, interval=3)
    node.sh("systemctl daemon-reload")
    assert not scheduled.kept()
    assert node.run(RUN, limit=200).code != 0
    drift = scheduled.drift()
    assert drift["exit"] == 1
    change = {"kind": "new finding", "check": "device-loss", "subject": "container trainer"}
    assert [one for one in drift["changes"] if change.items() <= one.items()], drift
    assert "pyinfra_nvml_last_run_exit_code 1.0" in node.read(PROM).decode()
    assert node.run(f"{AUDIT} {RESULTS} --last --level broken").code == 1
    said = cluster.wait(node, r"State=IDLE\+DRAIN")
    assert "Reason=pyinfra-nvml: broken: container trainer: " in said
    hosts = inventory.write(scheduled.hosts.with_name("waived.py"), [node])
    hosts.write_text(f"{hosts.read_text()}\nlab[0][1]['waivers'] = [{WAIVER}]\n")
    done = Scheduled(node, hosts).deploy()
    assert done.code == 0, done.text
    node.sh(RUN, limit=200)
    assert [one["check"] for one in scheduled.drift()["waived"]] == ["device-loss"]
    assert "Reason=" not in cluster.wait(node, r"State=IDLE(?!\+DRAIN)")
    node.sh("docker restart --time 0 trainer")
    node.sh(RUN, limit=200)
    assert scheduled.drift()["changes"] == []
    assert "pyinfra_nvml_last_run_exit_code 0.0" in node.read(PROM).decode()
    assert "Reason=" not in cluster.wait(node, r"State=IDLE(?!\+DRAIN)")


def test_the_drain_of_another_stays(scheduled: Scheduled) -> None:
    node = scheduled.node
    node.sh(f"scontrol update NodeName={node.name} State=DRAIN 'Reason=new fan, ask Kim'")
    told = node.sh("/usr/local/sbin/pyinfra-nvml-health")
    assert told.endswith("leave: drained by somebody else: new fan, ask Kim")
    assert "Reason=new fan, ask Kim [root@" in cluster.wait(node, r"State=IDLE\+DRAIN")
    node.sh(f"scontrol update NodeName={node.name} State=RESUME")


def test_a_run_that_dies_leaves_the_last_results_marked_old(scheduled: Scheduled) -> None:
    node = scheduled.node
    before = node.read(f"{RESULTS}/audit.json")
    # Stopped in the middle, so that it is there for sure when the second one comes.
    node.sh(
        f"{RUN} --no-block;"
        f" until grep -q '\"ended\": null' {RESULTS}/drift.json; do sleep 0.05; done;"
        f" systemctl kill --signal=STOP {UNIT}; {AUDIT} {RESULTS} | tail -1 >/root/second;"
        f" systemctl kill --signal=KILL {UNIT}; sleep 1"
    )
    assert "another run" in node.read("/root/second").decode()
    assert node.read(f"{RESULTS}/audit.json") == before
    last = node.run(f"{AUDIT} {RESULTS} --last")
    assert last.code == 2
    assert "has not ended: what stands here is from before" in last.stdout
    node.sh(RUN, limit=200)
    assert node.run(f"{AUDIT} {RESULTS} --last --level broken").code == 0


def accept(node: Node) -> None:
    """As the unit's user, for the fleet, as schedule.md says."""
    (command,) = [each for each in COMMANDS if each.startswith("su ")]
    node.sh(command, limit=200)


def test_a_controller_audits_an_inventory_as_its_own_user(scheduled: Scheduled) -> None:
    node = scheduled.node
    yesterday = (datetime.now(timezone.utc) - timedelta(days=1)).date().isoformat()
    data = {
        "ssh_hostname": node.address,
        "ssh_user": "root",
        "ssh_key": f"{RESULTS}/.ssh/key",
        "ssh_strict_host_key_checking": "accept-new",
        "waivers": [{**WAIVER, "expires": yesterday}],
    }
    node.write({FLEET: f"{inventory.HEAD}hosts = {[(node.name, data)]!r}\n"})
    done = scheduled.deploy(drift_mode="controller", drift_inventory=FLEET, drift_slurm=None)
    assert done.code == 0, done.text
    assert node.run("test -e /usr/local/sbin/pyinfra-nvml-health").code
    key = node.door.key.read_text()
    node.sh(
        f"install -d -o pyinfra-nvml -m 700 {RESULTS}/.ssh;"
        f" install -o pyinfra-nvml -m 600 /dev/stdin {RESULTS}/.ssh/key",
        stdin=key,
    )
    # What was accepted before is the node's own state, not the fleet's: that fails no run.
    node.sh(RUN, limit=200)
    assert scheduled.drift()["accepted"] is None
    told = node.sh(f"{PROGRAM} {FLEET} --last | grep ^drift:")
    assert "is the state of /etc/pyinfra-nvml/inventory.py, nothing accepted yet of" in told
    assert f"`{PROGRAM} {FLEET} --results {RESULTS} --accept` does, in its place" in told
    accept(node)
    node.sh(RUN, limit=200)
    drift = scheduled.drift()
    assert drift["nodes"][node.name]["status"] != "found"
    assert drift["inventory"] == FLEET
    assert node.sh(f"stat -c %U {RESULTS}/audit.json") == "pyinfra-nvml"
    assert scheduled.kept()
    other = node.run(f"{AUDIT} {RESULTS} --last --level broken")
    assert other.code == 2
    assert f"the last results are of {FLEET}, want those of /etc/pyinfra-nvml/" in other.stdout


def test_a_controller_tells_a_fault_between_two_runs_and_its_end(scheduled: Scheduled) -> None:
    node = scheduled.node
    accept(node)
    node.sh("systemctl daemon-reload")
    assert not scheduled.kept()
    assert node.run(RUN, limit=200).code != 0
    drift = scheduled.drift()
    assert drift["exit"] == 1
    change = {"node": node.name, "kind": "new finding", "check": "device-loss"}
    change["subject"] = "container trainer"
    assert [one for one in drift["changes"] if change.items() <= one.items()], drift
    assert "pyinfra_nvml_last_run_exit_code 1.0" in node.read(PROM).decode()
    # The inventory's waiver was over yesterday.
    assert drift["waived"] == []
    told = node.read(f"{RESULTS}/report.txt").decode()
    assert "waived by lab: a test, expired: it counts again" in told
    node.sh("docker restart --time 0 trainer")
    node.sh(RUN, limit=200)
    drift = scheduled.drift()
    assert (drift["exit"], drift["changes"]) == (0, []), drift
    assert "pyinfra_nvml_last_run_exit_code 0.0" in node.read(PROM).decode()


def test_it_comes_back_at_boot_and_is_taken_away_without_a_reload(scheduled: Scheduled) -> None:
    node = scheduled.node
    node.reboot()
    node.sh("docker start trainer; systemctl is-active pyinfra-nvml-drift.timer")
    done = scheduled.deploy(drift_schedule="daily")
    assert done.code == 0, done.text
    assert "00:00:00" in node.sh("systemctl show -p TimersCalendar pyinfra-nvml-drift.timer")
    assert scheduled.kept()
    # What these two do is seen above: the pages' own words are understood.
    for words in ("drift_slurm=broken", "drift_mode=controller"):
        scheduled.typed(words, "--dry")
    scheduled.typed("present=false")
    assert (
        node.run(
            "ls -d /opt/pyinfra-nvml /etc/systemd/system/pyinfra* /usr/local/sbin/pyinfra*"
            " /etc/systemd/system/*/pyinfra*"
        ).stdout
        == ""
    )
    assert node.sh("systemctl list-timers --all --no-legend 'pyinfra*'") == ""
    assert scheduled.kept()
