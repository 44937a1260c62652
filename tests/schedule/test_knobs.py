"""The knobs of the scheduled audit: their defaults, their pages, what makes no sense."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyinfra.api.exceptions import DeployError

from inventories.group_data import all as group_data
from pyinfra_nvml.settings.schedule import ScheduleKnobs, schedule_knobs
from tests.schedule.nodes import CONTROLLER, NODE

DOCS = Path(__file__).parents[2] / "docs"


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
def test_a_value_that_makes_no_sense_is_refused(data: dict[str, object], saw: str) -> None:
    with pytest.raises(DeployError, match=re.escape(saw)) as told:
        asked(**data)
    assert str(told.value).startswith(
        f"knob {'drift_inventory' if saw.startswith('None') else next(iter(data))}: saw "
    )
