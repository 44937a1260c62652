"""The settings of the scheduled audit: their defaults, their pages, what makes no sense."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyinfra.api.exceptions import DeployError

from inventories.group_data import all as group_data
from pyinfra_nvml.settings.schedule import ScheduleSettings, read_schedule
from tests.schedule.nodes import CONTROLLER, NODE

DOCS = Path(__file__).parents[2] / "docs"


class Data(dict[str, object]):
    def dict(self) -> dict[str, object]:
        return self


class Host:
    def __init__(self, **data: object) -> None:
        self.data = Data(data)


def asked(**data: object) -> ScheduleSettings:
    return read_schedule(Host(**data))  # type: ignore[arg-type]


def test_group_data_has_every_setting_with_its_default() -> None:
    defaults = {name: getattr(NODE, name) for name in ScheduleSettings.model_fields}
    assert {name: getattr(group_data, name) for name in defaults} == defaults


def test_the_pages_name_the_settings_that_there_are() -> None:
    page = (DOCS / "schedule.md").read_text()
    told = set(re.findall(r"`(drift_\w+|present)`", page.partition("## Settings")[2]))
    assert told == set(ScheduleSettings.model_fields)
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
        ({"drift_mode": "fleet"}, "'fleet'; expected one of controller, node"),
        ({"drift_mode": "controller"}, "None; expected the path of an inventory on the controller"),
        ({"drift_schedule": "hourly\nExecStart=/bin/x"}, "expected an OnCalendar="),
        ({"drift_schedule": "%i"}, "expected an OnCalendar="),
        ({"drift_delay": -1}, "expected a number of seconds from 0"),
        ({"drift_limit": True}, "expected a number of seconds from 60"),
        ({"drift_level": "bad"}, "'bad'; expected one of broken, at risk, advice, none"),
        ({"drift_user": "root; rm"}, "expected a user name"),
        ({"drift_results": "/var"}, "of a directory of its own below another"),
        ({"drift_results": "/var/lib/../etc"}, "expected an absolute path"),
        ({"drift_home": "opt/x"}, "expected an absolute path"),
        ({"drift_home": "/opt/a b"}, "expected an absolute path"),
        ({"drift_textfile": "/var/lib/node_exporter/nvml.txt"}, "of a file NAME.prom"),
        ({"drift_python": "python3; x"}, "expected the name or the path of a Python"),
        ({"drift_slurm": "none"}, "'none'; expected one of broken, at risk, advice"),
        (
            {"drift_slurm": "broken", "drift_mode": "controller", "drift_inventory": "/a/b.py"},
            "'broken'; expected None on a controller",
        ),
        ({"drift_mod": "controller"}, ": did you mean drift_mode?"),
        ({"present": "no"}, "'no'; expected true or false"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(data: dict[str, object], saw: str) -> None:
    with pytest.raises(DeployError, match=re.escape(saw)) as told:
        asked(**data)
    name = "drift_inventory" if saw.startswith("None") else next(iter(data))
    unknown = "did you mean" in saw
    start = f"unknown setting {name}: " if unknown else f"setting {name} is "
    assert str(told.value).startswith(start)
