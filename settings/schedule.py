"""The knobs of the scheduled audit, read from host data and held to what they may be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from pyinfra.api import Host

from pyinfra_nvml.model.finding import LEVELS
from pyinfra_nvml.settings import knob_values as values
from pyinfra_nvml.settings.knob_names import misspelt
from pyinfra_nvml.settings.refused_knobs import RefusedKnobs, refused_knob

MODES = ("controller", "node")
SERVICE_USER = "pyinfra-nvml"
# useradd(8), CAVEATS: what Debian, Fedora and shadow all take.
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
# In a path of a unit or a crontab these would need quoting that the two do in different ways.
_PLAIN = re.compile(r"/[A-Za-z0-9._@+,:/-]*")

_seconds = partial(values.count, of="a number of seconds")


@dataclass(frozen=True)
class ScheduleKnobs:
    """What an inventory asks of the schedule; inventories/group_data/all.py has their meaning."""

    present: bool = True
    drift_mode: str = "node"
    drift_schedule: str = "hourly"
    drift_delay: int = 900
    drift_limit: int = 600
    drift_level: str | None = None
    drift_inventory: str | None = None
    drift_user: str | None = None
    drift_results: str = "/var/lib/pyinfra-nvml-drift"
    drift_textfile: str | None = None
    drift_home: str = "/opt/pyinfra-nvml"
    drift_python: str = "python3"
    drift_slurm: str | None = None
    drift_slurm_unknown: bool = False

    @property
    def user(self) -> str:
        """Who runs the audit: root where it opens the devices of containers, else its own user."""
        return self.drift_user or ("root" if self.drift_mode == "node" else SERVICE_USER)


def schedule_knobs(host: Host) -> ScheduleKnobs:
    """This host's knobs; a value that makes no sense ends the run before anything is changed."""
    _misspelt(host)
    given = {}
    for name, field in ScheduleKnobs.__dataclass_fields__.items():
        value = host.data.get(name)
        given[name] = field.default if value is None else value
    mode = values.one_of(*MODES)("drift_mode", given["drift_mode"])
    return ScheduleKnobs(
        present=values.flag("present", given["present"]),
        drift_mode=mode,
        drift_schedule=_calendar(given),
        drift_delay=_seconds(least=0)("drift_delay", given["drift_delay"]),
        drift_limit=_seconds(least=60)("drift_limit", given["drift_limit"]),
        drift_level=_level(given),
        drift_inventory=_inventory(given, mode),
        drift_user=_user(given),
        drift_results=_own("drift_results", given),
        drift_textfile=_textfile(given),
        drift_home=_own("drift_home", given),
        drift_python=_python(given),
        drift_slurm=_slurm(given, mode),
        drift_slurm_unknown=values.flag("drift_slurm_unknown", given["drift_slurm_unknown"]),
    )


def _misspelt(host: Host) -> None:
    """pyinfra takes any name with ``--data``, and nobody reads one that is not there."""
    given = (name for name in sorted(host.data.dict()) if name.startswith("drift_"))
    if lines := misspelt(given, ScheduleKnobs.__dataclass_fields__):
        raise RefusedKnobs(*lines)


def _calendar(given: dict[str, object]) -> str:
    """One line; whether systemd knows it is asked on the node."""
    value = given["drift_schedule"]
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9 .,:*/~_+-]+", value.strip()):
        raise refused_knob("drift_schedule", value, "one OnCalendar= of systemd.time(7)")
    return value.strip()


def _path(name: str, value: object) -> str:
    if not isinstance(value, str) or not _PLAIN.fullmatch(value) or ".." in value.split("/"):
        raise refused_knob(name, value, "an absolute path on the node, without blanks or quotes")
    return value.rstrip("/") or "/"


def _own(name: str, given: dict[str, object]) -> str:
    """A directory that may be given to one user: none that the system shares."""
    path = _path(name, given[name])
    if path.count("/") < 2:
        raise refused_knob(name, given[name], "a directory of its own below another")
    return path


def _inventory(given: dict[str, object], mode: str) -> str | None:
    value = given["drift_inventory"]
    if value is None and mode == "controller":
        raise refused_knob("drift_inventory", value, "the path of an inventory on the controller")
    return None if value is None else _path("drift_inventory", value)


def _textfile(given: dict[str, object]) -> str | None:
    value = given["drift_textfile"]
    path = None if value is None else _path("drift_textfile", value)
    # node_exporter reads files of this name alone (its README, Textfile Collector).
    if path is not None and not path.endswith(".prom"):
        raise refused_knob("drift_textfile", value, "a file NAME.prom in node_exporter's directory")
    return path


def _python(given: dict[str, object]) -> str:
    value = given["drift_python"]
    if not isinstance(value, str) or not re.fullmatch(r"/?[A-Za-z0-9._+/-]+", value):
        raise refused_knob("drift_python", value, "the name or the path of a Python on the node")
    return value


def _level(given: dict[str, object]) -> str | None:
    value = given["drift_level"]
    return values.one_of(*LEVELS, "none")("drift_level", value) if value else None


def _slurm(given: dict[str, object], mode: str) -> str | None:
    value = given["drift_slurm"]
    if value is not None and mode == "controller":
        raise refused_knob(
            "drift_slurm", value, "None on a controller: a node is drained by its own audit"
        )
    return None if value is None else values.one_of(*LEVELS)("drift_slurm", value)


def _user(given: dict[str, object]) -> str | None:
    value = given["drift_user"]
    if value is not None and (not isinstance(value, str) or not _USER.fullmatch(value)):
        raise refused_knob("drift_user", value, "a user name of small letters, digits, - and _")
    return value
