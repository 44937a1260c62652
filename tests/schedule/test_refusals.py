"""Reasons against a scheduled audit on a node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyinfra_nvml.drift import schedule_refusals
from pyinfra_nvml.model.unknown import Unknown
from tests.schedule.nodes import CONTROLLER, CRON, NODE, OUT, PYTHON, SYSTEMD


def test_what_has_to_be_there_before() -> None:
    assert schedule_refusals.needed(NODE) == ()
    assert (
        schedule_refusals.needed(
            NODE.model_copy(update={"drift_textfile": f"{NODE.drift_results}/a.prom"})
        )
        == ()
    )
    both = CONTROLLER.model_copy(update={"drift_textfile": "/var/lib/node_exporter/a.prom"})
    assert schedule_refusals.needed(both) == (
        "/etc/pyinfra-nvml/fleet.py",
        "/var/lib/node_exporter",
    )


@pytest.mark.parametrize(
    ("settings", "scheduler", "python", "told"),
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
                "/var/lib/node_exporter: saw no such file or directory, want it to be there",
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
        # What cron cannot say, systemd can.
        ({"drift_schedule": "monthly"}, SYSTEMD, PYTHON, []),
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
def test_the_reasons_against_it(
    settings: dict[str, Any], scheduler: Any, python: Any, told: list[str]
) -> None:
    found = [
        str(one)
        for one in schedule_refusals.schedule_refusals(
            NODE.model_copy(update=settings), scheduler, python
        )
    ]
    assert len(found) == len(told)
    for one, start in zip(found, told, strict=True):
        assert one.startswith(start)
