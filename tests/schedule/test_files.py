"""The files of the scheduled audit: for systemd, and for cron where there is no systemd."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from pyinfra_nvml.drift import cron_time
from pyinfra_nvml.drift import schedule_plan as schedule
from pyinfra_nvml.facts.scheduler import SchedulerState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations.drift_timer import in_place
from pyinfra_nvml.settings.schedule import ScheduleSettings
from tests.schedule.nodes import CONTROLLER, CRON, NODE, SYSTEMD


def test_the_files_of_a_node() -> None:
    textfile = "/var/lib/node_exporter/nvml.prom"
    settings = NODE.model_copy(update={"drift_textfile": textfile, "drift_level": "at risk"})
    made = schedule.schedule_files(settings, SYSTEMD, "gpu-01", {"audit_level": "broken"})
    service = made.texts[schedule.SERVICE]
    assert (
        "\nExecStart=/opt/pyinfra-nvml/current/bin/nvml-audit /etc/pyinfra-nvml/inventory.py"
        " --results /var/lib/pyinfra-nvml-drift --interval 3600 --time-limit 580"
        ' --level "at risk" --textfile /var/lib/node_exporter/nvml.prom\n'
    ) in service
    assert "\nReadWritePaths=/var/lib/pyinfra-nvml-drift /var/lib/node_exporter\n" in service
    assert "\nTimeoutStartSec=600\n" in service
    assert "User=" not in service
    assert "\nOnCalendar=hourly\nRandomizedDelaySec=900\n" in made.texts[schedule.TIMER]
    assert "hosts = [(\"@local\", {'audit_level': 'broken'})]" in made.texts[schedule.INVENTORY]
    assert made.links == {schedule.WANTED: "../pyinfra-nvml-drift-boot.service"}
    assert set(made.absent) == {schedule.CRON, schedule.HEALTH}


def test_the_settings_that_go_along() -> None:
    waivers = [
        {"check": "engine-driver", "hosts": "gpu-0*", "expires": date(2027, 1, 31)},
        {"check": "driver-skew", "expires": "2027-01-31"},
        {"check": "device-exposure", "subjects": ("container train-*",), "hosts": ["gpu-01"]},
        {"check": "runc", "hosts": ["cpu-*"], "expires": "2027-01-31"},
    ]
    given = {
        "audit_level": "broken",
        "mig_monitors": ("exporter",),
        "canary": ["gpu-01"],
        "kubeconfig": "/home/me/.kube/config",
        "accept": True,
        "report_html": "results/audit.html",
        "cgroup_driver": None,
        "waivers": waivers,
    }
    assert schedule.carried(given, "gpu-01") == {
        "audit_level": "broken",
        "mig_monitors": ("exporter",),
        "waivers": [
            {"check": "engine-driver", "hosts": ["*"], "expires": "2027-01-31"},
            {"check": "driver-skew", "hosts": ["*"], "expires": "2027-01-31"},
            {"check": "device-exposure", "subjects": ["container train-*"], "hosts": ["*"]},
        ],
    }


def test_the_files_of_a_controller() -> None:
    made = schedule.schedule_files(CONTROLLER, SYSTEMD, "ctl", {})
    service = made.texts[schedule.SERVICE]
    assert "nvml-audit /etc/pyinfra-nvml/fleet.py --results" in service
    assert "\nUser=pyinfra-nvml\n" in service
    assert "\nAfter=network-online.target\n" in service
    assert schedule.INVENTORY in made.absent


def test_no_unit_is_wanted_but_the_one_that_never_changes() -> None:
    """A timer that a target wants stays loaded, and its change would need a daemon-reload."""
    made = schedule.schedule_files(NODE, SYSTEMD, "gpu-01", {})
    assert "[Install]" not in made.texts[schedule.TIMER] + made.texts[schedule.SERVICE]
    other = CONTROLLER.model_copy(
        update={"drift_schedule": "daily", "drift_limit": 60, "drift_home": "/opt/other"}
    )
    assert (
        schedule.schedule_files(other, SYSTEMD, "x", {}).texts[schedule.BOOT]
        == made.texts[schedule.BOOT]
    )


@pytest.mark.parametrize("settings", [NODE, CONTROLLER])
def test_no_unit_sets_a_limit_that_makes_systemd_write_device_filters(
    settings: ScheduleSettings,
) -> None:
    for text in schedule.schedule_files(settings, SYSTEMD, "gpu-01", {}).texts.values():
        set_ = [line.partition("=")[0] for line in text.splitlines() if not line.startswith("#")]
        risky = r"(Memory|CPU|IO|Tasks|IP|Device|PrivateDevices|Slice|Delegate|Allowed)"
        assert [name for name in set_ if re.match(risky, name)] == []


def test_the_line_of_cron() -> None:
    made = schedule.schedule_files(NODE, CRON, "gpu-01", {})
    line = made.texts[schedule.CRON].splitlines()[-1]
    wait = cron_time.start_delay("gpu-01", 900)
    assert line == (
        f"0 * * * * root sleep {wait}; cd /var/lib/pyinfra-nvml-drift && exec timeout -k 10 600"
        " /opt/pyinfra-nvml/current/bin/nvml-audit /etc/pyinfra-nvml/inventory.py"
        " --results /var/lib/pyinfra-nvml-drift --interval 3600 --time-limit 580"
        " >/dev/null 2>&1"
    )
    # crontab(5): a % would end the command.
    assert "%" not in made.texts[schedule.CRON]
    assert made.links == {}


@pytest.mark.parametrize(
    ("calendar", "said"),
    [
        ("hourly", ("0 * * * *", 3600)),
        ("*:0/15", ("*/15 * * * *", 900)),
        ("*-*-* *:00/15:00", ("*/15 * * * *", 900)),
        ("*:30", ("30 * * * *", 3600)),
        ("0/6:15", ("15 */6 * * *", 21600)),
        ("03:30", ("30 3 * * *", 86400)),
        ("daily", ("0 0 * * *", 86400)),
        ("*:0/7", None),
        ("0/5:00", None),
        ("25:00", None),
        ("03:61", None),
        ("0/6:61", None),
        ("Mon..Fri 03:00", None),
        ("monthly", None),
    ],
)
def test_what_cron_can_say(calendar: str, said: tuple[str, int] | None) -> None:
    assert cron_time.cron_entry(calendar) == said


def test_delays_are_spread_and_stay() -> None:
    waits = [cron_time.start_delay(f"gpu-{number:04}", 900) for number in range(1000)]
    assert waits == [cron_time.start_delay(f"gpu-{number:04}", 900) for number in range(1000)]
    assert min(waits) < 20
    assert max(waits) > 880
    assert max(waits) <= 900
    assert cron_time.start_delay("gpu-01", 0) == 0


def test_when_nothing_is_to_be_done() -> None:
    files = schedule.ScheduleFiles({"/a": "text\n"}, {"/b": "../c"})
    total = "b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733"
    right = SchedulerState(True, False, 3600, True, False, {"/a": total}, {"/b": "../c"})
    assert in_place(right, files)
    assert in_place(replace(right, systemd=False, active=False), files)
    others: list[dict[str, Any]] = [
        {"active": False},
        {"stale": True},
        {"active": Unknown("timed out")},
        {"files": {"/a": "0"}},
        {"files": {"/a": total, "/etc/cron.d/pyinfra-nvml-drift": "0"}},
        {"links": {}},
        {"links": Unknown("timed out")},
    ]
    for other in others:
        assert not in_place(replace(right, **other), files)
    nothing = SchedulerState(True, False, 3600, False, False, {}, {})
    assert in_place(nothing, schedule.NOTHING)
