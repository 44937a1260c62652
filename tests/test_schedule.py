"""The scheduled audit: its knobs, its files, and what speaks against them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyinfra.api.exceptions import DeployError

from audit.schedule import cron_time
from audit.schedule import plan as schedule
from audit.schedule import refusals as schedule_refusals
from audit.schedule.knobs import ScheduleKnobs, schedule_knobs
from facts.interpreter import PythonInterpreter
from facts.scheduler import SchedulerState
from facts.unknown import Unknown
from inventories.group_data import all as group_data
from operations.drift_timer import in_place

DOCS = Path(__file__).parent.parent / "docs"

SYSTEMD = SchedulerState(True, False, 3600, False, False, {}, {})
CRON = SchedulerState(False, True, None, False, False, {}, {})
PYTHON = PythonInterpreter(
    "/usr/bin/python3.11", (3, 11, 2), "CPython", "x86_64", 64, "glibc 2.36", True
)
OUT = Unknown("timed out")
NODE = ScheduleKnobs()
CONTROLLER = ScheduleKnobs(drift_mode="controller", drift_inventory="/etc/pyinfra-nvml/fleet.py")


class Data(dict[str, object]):
    def dict(self) -> dict[str, object]:
        return self


class Host:
    def __init__(self, **data: object) -> None:
        self.data = Data(data)


def asked(**data: object) -> ScheduleKnobs:
    return schedule_knobs(Host(**data))  # type: ignore[arg-type]


def test_group_data_has_every_knob_with_its_default() -> None:
    defaults = {name: getattr(NODE, name) for name in ScheduleKnobs.__dataclass_fields__}
    assert {name: getattr(group_data, name) for name in defaults} == defaults


def test_the_pages_name_the_knobs_that_there_are() -> None:
    page = (DOCS / "schedule.md").read_text()
    told = set(re.findall(r"`(drift_\w+|present)`", page.partition("## Knobs")[2]))
    assert told == set(ScheduleKnobs.__dataclass_fields__)
    for text in (page, (DOCS / "slurm.md").read_text()):
        used = set(re.findall(r"--data (\w+)=", text))
        assert used
        assert used <= told


def test_what_nobody_said_is_the_default() -> None:
    assert asked() == NODE
    assert NODE.user == "root"
    assert CONTROLLER.user == "pyinfra-nvml"


@pytest.mark.parametrize(
    ("data", "saw"),
    [
        ({"drift_mode": "fleet"}, "'fleet', want one of controller, node"),
        ({"drift_mode": "controller"}, "None, want the path of an inventory on the controller"),
        ({"drift_schedule": "hourly\nExecStart=/bin/x"}, "want one OnCalendar="),
        ({"drift_schedule": "%i"}, "want one OnCalendar="),
        ({"drift_delay": -1}, "want a number of seconds from 0"),
        ({"drift_limit": True}, "want a number of seconds from 60"),
        ({"drift_level": "bad"}, "'bad', want one of broken, at risk, advice, none"),
        ({"drift_user": "root; rm"}, "want a user name"),
        ({"drift_results": "/var"}, "want a directory of its own"),
        ({"drift_results": "/var/lib/../etc"}, "want an absolute path"),
        ({"drift_home": "opt/x"}, "want an absolute path"),
        ({"drift_home": "/opt/a b"}, "want an absolute path"),
        ({"drift_textfile": "/var/lib/node_exporter/nvml.txt"}, "want a file NAME.prom"),
        ({"drift_python": "python3; x"}, "want the name or the path of a Python"),
        ({"drift_slurm": "none"}, "'none', want one of broken, at risk, advice"),
        (
            {"drift_slurm": "broken", "drift_mode": "controller", "drift_inventory": "/a/b.py"},
            "'broken', want None on a controller",
        ),
        ({"drift_mod": "controller"}, "no such knob, want drift_mode"),
        ({"present": "no"}, "'no', want true or false"),
    ],
)
def test_a_value_that_cannot_be_meant(data: dict[str, object], saw: str) -> None:
    with pytest.raises(DeployError, match=re.escape(saw)) as told:
        asked(**data)
    assert str(told.value).startswith(
        f"knob {'drift_inventory' if saw.startswith('None') else next(iter(data))}: saw "
    )


def test_the_files_of_a_node() -> None:
    textfile = "/var/lib/node_exporter/nvml.prom"
    knobs = replace(NODE, drift_textfile=textfile, drift_level="at risk")
    made = schedule.files(knobs, SYSTEMD, "gpu-01", {"audit_level": "broken"})
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


def test_the_knobs_that_go_along() -> None:
    waivers = [
        {"check": "engine-driver", "hosts": "gpu-0*", "expires": date(2027, 1, 31)},
        {"check": "driver-skew", "expires": "2027-01-31"},
        {"check": "runc", "hosts": ["cpu-*"], "expires": "2027-01-31"},
    ]
    given = {
        "audit_level": "broken",
        "mig_monitors": ("exporter",),
        "canary": ["gpu-01"],
        "kubeconfig": "/home/me/.kube/config",
        "accept": True,
        "report_html": "reports/audit.html",
        "cgroup_driver": None,
        "waivers": waivers,
    }
    assert schedule.carried(given, "gpu-01") == {
        "audit_level": "broken",
        "mig_monitors": ("exporter",),
        "waivers": [
            {"check": "engine-driver", "hosts": ["*"], "expires": "2027-01-31"},
            {"check": "driver-skew", "hosts": ["*"], "expires": "2027-01-31"},
        ],
    }


def test_the_files_of_a_controller() -> None:
    made = schedule.files(CONTROLLER, SYSTEMD, "ctl", {})
    service = made.texts[schedule.SERVICE]
    assert "nvml-audit /etc/pyinfra-nvml/fleet.py --results" in service
    assert "\nUser=pyinfra-nvml\n" in service
    assert "\nAfter=network-online.target\n" in service
    assert schedule.INVENTORY in made.absent


def test_no_unit_is_wanted_but_the_one_that_never_changes() -> None:
    """A timer that a target wants stays loaded, and its change would need a daemon-reload."""
    made = schedule.files(NODE, SYSTEMD, "gpu-01", {})
    assert "[Install]" not in made.texts[schedule.TIMER] + made.texts[schedule.SERVICE]
    other = replace(CONTROLLER, drift_schedule="daily", drift_limit=60, drift_home="/opt/other")
    assert schedule.files(other, SYSTEMD, "x", {}).texts[schedule.BOOT] == made.texts[schedule.BOOT]


@pytest.mark.parametrize("knobs", [NODE, CONTROLLER])
def test_no_unit_sets_a_limit_that_makes_systemd_write_device_filters(knobs: ScheduleKnobs) -> None:
    for text in schedule.files(knobs, SYSTEMD, "gpu-01", {}).texts.values():
        set_ = [line.partition("=")[0] for line in text.splitlines() if not line.startswith("#")]
        risky = r"(Memory|CPU|IO|Tasks|IP|Device|PrivateDevices|Slice|Delegate|Allowed)"
        assert [name for name in set_ if re.match(risky, name)] == []


def test_the_line_of_cron() -> None:
    made = schedule.files(NODE, CRON, "gpu-01", {})
    line = made.texts[schedule.CRON].splitlines()[-1]
    wait = cron_time.delay("gpu-01", 900)
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
    assert cron_time.cron(calendar) == said


def test_what_has_to_be_there_before() -> None:
    assert schedule_refusals.needed(NODE) == ()
    assert (
        schedule_refusals.needed(replace(NODE, drift_textfile=f"{NODE.drift_results}/a.prom")) == ()
    )
    both = replace(CONTROLLER, drift_textfile="/var/lib/node_exporter/a.prom")
    assert schedule_refusals.needed(both) == (
        "/etc/pyinfra-nvml/fleet.py",
        "/var/lib/node_exporter",
    )


def test_delays_are_spread_and_stay() -> None:
    waits = [cron_time.delay(f"gpu-{number:04}", 900) for number in range(1000)]
    assert waits == [cron_time.delay(f"gpu-{number:04}", 900) for number in range(1000)]
    assert min(waits) < 20
    assert max(waits) > 880
    assert max(waits) <= 900
    assert cron_time.delay("gpu-01", 0) == 0


@pytest.mark.parametrize(
    ("knobs", "scheduler", "python", "told"),
    [
        ({}, SYSTEMD, PYTHON, []),
        ({}, CRON, PYTHON, []),
        ({"drift_user": "pyinfra-nvml"}, replace(SYSTEMD, user=False), PYTHON, []),
        (
            {"drift_user": "kim"},
            replace(SYSTEMD, uid=1001, user=False, missing=("/var/lib/node_exporter",)),
            PYTHON,
            [
                "user: saw uid 1001, want root; set _sudo = True",
                "drift_user kim: saw no such user, want a user of this node",
                "/var/lib/node_exporter: saw no such file or directory, want it there",
            ],
        ),
        (
            {"drift_user": "kim"},
            replace(SYSTEMD, uid=OUT, user=OUT, missing=OUT),
            PYTHON,
            ["user: saw timed out", "drift_user kim: saw timed out", "paths: saw timed out"],
        ),
        # systemd 239 tells the next time alone.
        ({}, replace(SYSTEMD, gap=Unknown("it comes up once")), PYTHON, []),
        ({}, SYSTEMD, None, ["python3: saw no such program, want Python 3.10 or newer"]),
        ({}, SYSTEMD, Unknown("timed out"), ["python3: saw timed out"]),
        ({}, Unknown("timed out"), PYTHON, ["scheduler: saw timed out"]),
        ({}, replace(CRON, cron=False), PYTHON, ["scheduler: saw neither systemd nor a cron"]),
        ({"drift_schedule": "monthly"}, CRON, PYTHON, ["drift_schedule 'monthly': saw no systemd"]),
        (
            {"drift_schedule": "x"},
            replace(SYSTEMD, gap=Unknown("Failed to parse 'x'")),
            PYTHON,
            ["drift_schedule 'x': saw Failed to parse 'x', want an OnCalendar="],
        ),
        (
            {"drift_delay": 3000},
            SYSTEMD,
            PYTHON,
            ["drift_delay and drift_limit: saw 3600 s, with 3600 s between two runs, want less"],
        ),
        (
            {"drift_schedule": "*:0/5"},
            CRON,
            replace(PYTHON, venv=False),
            [
                "/usr/bin/python3.11: saw Python 3.11.2 without venv or ensurepip, want both; apt",
                "drift_delay and drift_limit: saw 1500 s, with 300 s",
            ],
        ),
    ],
)
def test_what_speaks_against_it(
    knobs: dict[str, Any], scheduler: Any, python: Any, told: list[str]
) -> None:
    found = [
        str(one) for one in schedule_refusals.refusals(replace(NODE, **knobs), scheduler, python)
    ]
    assert len(found) == len(told)
    for one, start in zip(found, told, strict=True):
        assert one.startswith(start)


def test_when_nothing_is_to_be_done() -> None:
    files = schedule.Files({"/a": "text\n"}, {"/b": "../c"})
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
