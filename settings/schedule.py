"""The settings of deploys/schedule_drift.py: an audit at set times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from pyinfra.api import Host
from typing_extensions import Self

from pyinfra_nvml.model.finding import LEVELS
from pyinfra_nvml.settings.declaration import Declared, Expected
from pyinfra_nvml.settings.field_types import OWN_DIRECTORY, OneOf
from pyinfra_nvml.settings.host_data import given
from pyinfra_nvml.settings.wrong import (
    RefusedSettings,
    Wrong,
    WrongValue,
    unknown_setting,
    wrong_value,
)

SERVICE_USER = "pyinfra-nvml"


def _calendar(value: str) -> str:
    """One line; whether systemd knows it is asked on the node."""
    if not re.fullmatch(r"[A-Za-z0-9 .,:*/~_+-]+", value.strip()):
        raise ValueError
    return value.strip()


def _path(value: str | None) -> str | None:
    # In a path of a unit or a crontab others would need quoting that the two do in different ways.
    if value is None:
        return None
    if not re.fullmatch(r"/[A-Za-z0-9._@+,:/-]*", value) or ".." in value.split("/"):
        raise ValueError
    return value.rstrip("/") or "/"


def _own(value: str) -> str:
    """A directory that may be given to one user: none that the system shares."""
    path = _path(value)
    if path is None or path.count("/") < 2:
        raise ValueError
    return path


def _textfile(value: str | None) -> str | None:
    # node_exporter reads files of this name alone (its README, Textfile Collector).
    if value is not None and not value.endswith(".prom"):
        raise ValueError
    return _path(value)


def _python(value: str) -> str:
    if not re.fullmatch(r"/?[A-Za-z0-9._+/-]+", value):
        raise ValueError
    return value


def _user(value: str | None) -> str | None:
    # useradd(8), CAVEATS: what Debian, Fedora and shadow all take.
    if value is not None and not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", value):
        raise ValueError
    return value


_PLAIN = "without blanks or quotes"
Calendar = Annotated[
    str, AfterValidator(_calendar), Expected("an OnCalendar= of systemd.time(7) in one line")
]
Directory = Annotated[str, AfterValidator(_own), Expected(f"{OWN_DIRECTORY}, {_PLAIN}")]
Inventory = Annotated[
    str | None, AfterValidator(_path), Expected(f"an absolute path on the node, {_PLAIN}, or None")
]
Textfile = Annotated[
    str | None,
    AfterValidator(_textfile),
    Expected(f"the absolute path, {_PLAIN}, of a file NAME.prom in node_exporter's directory"),
]
Python = Annotated[
    str, AfterValidator(_python), Expected("the name or the path of a Python on the node")
]
User = Annotated[
    str | None,
    AfterValidator(_user),
    Expected("a user name of small letters, digits, - and _, or None"),
]


class ScheduleSettings(Declared):
    """Who audits, when, as whom, and where the results go."""

    present: bool = Field(
        default=True,
        description="False: deploys/schedule_drift.py removes the timer, its program and the Slurm "
        "health check again.",
    )
    drift_mode: Literal["controller", "node"] = Field(
        default="node",
        description='Who audits: "node" (each node itself) or "controller" (one machine audits an '
        "inventory).",
    )
    drift_schedule: Calendar = Field(
        default="hourly",
        description="When: an OnCalendar= of systemd.time(7). Without systemd, one that cron can "
        "express too.",
    )
    drift_delay: Annotated[int, Expected("a number of seconds from 0")] = Field(
        default=900,
        ge=0,
        description="Seconds over which the nodes spread their runs; each node always has the same "
        "delay.",
    )
    drift_limit: Annotated[int, Expected("a number of seconds from 60")] = Field(
        default=600,
        ge=60,
        description="Seconds after which a run is ended. Delay and limit together must be less "
        "than the time between two runs.",
    )
    drift_level: Annotated[str | None, OneOf(*LEVELS, "none")] = Field(
        default=None,
        description='What a scheduled audit counts as a failure: "broken", "at risk", "advice" or '
        '"none". None: what audit_level says.',
    )
    drift_inventory: Inventory = Field(
        default=None,
        description="The inventory that a controller audits: its path on the controller. A node "
        "audits itself.",
    )
    drift_user: User = Field(
        default=None,
        description="The user who runs it. None: root on a node (needed to open a container's "
        'device); on a controller a user of its own, "pyinfra-nvml", who needs the keys of the '
        "inventory in its .ssh.",
    )
    drift_results: Directory = Field(
        default="/var/lib/pyinfra-nvml-drift",
        description="The directory for the results, and that user's home.",
    )
    drift_textfile: Textfile = Field(
        default=None,
        description="The file for node_exporter's textfile collector, NAME.prom in its directory. "
        "None: no file.",
    )
    drift_home: Directory = Field(
        default="/opt/pyinfra-nvml",
        description="The directory for the program: a virtual environment for each version, and a "
        "link to the one in use.",
    )
    drift_python: Python = Field(
        default="python3",
        description="The Python that makes them: a name or a path on the node; 3.10 or newer, with "
        "venv.",
    )
    drift_slurm: Annotated[str | None, OneOf(*LEVELS)] = Field(
        default=None,
        description="Install a HealthCheckProgram for Slurm (docs/slurm.md) that drains a node "
        'with a finding at or above this level: "broken", "at risk" or "advice". None: none is '
        "installed.",
    )
    drift_slurm_unknown: bool = Field(
        default=False,
        description="True: it also drains a node that is unknown or whose results are too old.",
    )

    @property
    def user(self) -> str:
        """Who runs the audit: root where it opens the devices of containers, else its own user."""
        return self.drift_user or ("root" if self.drift_mode == "node" else SERVICE_USER)

    @model_validator(mode="after")
    def _fits_a_controller(self) -> Self:
        if self.drift_mode == "controller" and (wrong := tuple(self._unfit())):
            raise WrongValue(*wrong)
        return self

    def _unfit(self) -> Iterator[Wrong]:
        if self.drift_inventory is None:
            expected = "the path of an inventory on the controller"
            yield wrong_value("drift_inventory", None, expected)
        if self.drift_slurm is not None:
            expected = "None on a controller: a node is drained by its own audit"
            yield wrong_value("drift_slurm", self.drift_slurm, expected)


def read_schedule(host: Host) -> ScheduleSettings:
    """This host's schedule; a wrong value ends the run before anything is changed."""
    known = ScheduleSettings.names()
    # pyinfra takes any name with ``--data``, and nobody reads one that is not there.
    names = (name for name in sorted(host.data.dict()) if name.startswith("drift_"))
    if wrong := [unknown_setting(name, known) for name in names if name not in known]:
        raise RefusedSettings(*wrong)
    return ScheduleSettings.read(given(host, ScheduleSettings))
