"""The scheduled audit of a node: its files, its user and its timer, without a daemon-reload."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Iterator

from pyinfra.api.command import StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host

from pyinfra_nvml.drift.schedule_plan import NOTHING, PATHS, ScheduleFiles
from pyinfra_nvml.facts.scheduler import Scheduler, SchedulerState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import node
from pyinfra_nvml.settings.schedule import SERVICE_USER, ScheduleSettings

_LIMIT = 180
"""Seconds: a run at work is stopped, which its unit may take 90 s for (TimeoutStopSec)."""


@operation()
def scheduled(
    settings: ScheduleSettings, files: ScheduleFiles, systemd: bool
) -> Generator[StringCommand, None, None]:
    """
    The audit of this node runs at its time, by a systemd timer or by cron.

    + settings: what the inventory asks of the schedule
    + files: the files that are to be there
    + systemd: whether a timer starts it, or cron

    Files that are right stay as they are; a run at work is ended only where a unit changes. No
    daemon-reload, no ``systemctl enable``, which does one. Needs root.

    **Example:**

    .. code:: python

        drift_timer.scheduled(settings=wanted, files=schedule.files(...), systemd=True)
    """
    now = host.get_fact(Scheduler, calendar=settings.drift_schedule, paths=PATHS)
    if not isinstance(now, Unknown) and in_place(now, files):
        host.noop(f"the audit is scheduled: {settings.drift_schedule}")
        return
    textfile = (settings.drift_textfile or "").rpartition("/")[0] or "-"
    create = "yes" if settings.drift_user is None or settings.drift_user == SERVICE_USER else "no"
    yield node.run(
        node.script("say", "metrics_file", "schedule"),
        "systemd" if systemd else "cron",
        settings.user,
        create,
        settings.drift_results,
        textfile,
        stdin="".join(f"{line}\n" for line in _lines(files)),
        limit=_LIMIT,
    )


@operation()
def unscheduled(settings: ScheduleSettings) -> Generator[StringCommand, None, None]:
    """
    Nothing of ours is started at its time on this node. Results and the user stay.

    + settings: what the inventory asks of the schedule

    **Example:**

    .. code:: python

        drift_timer.unscheduled(settings=wanted)
    """
    more = (settings.drift_textfile,) if settings.drift_textfile else ()
    now = host.get_fact(Scheduler, calendar=settings.drift_schedule, paths=(*PATHS, *more))
    if not isinstance(now, Unknown) and in_place(now, NOTHING) and now.active is False:
        host.noop("no audit is scheduled")
        return
    yield node.run(
        node.script("say", "metrics_file", "unschedule"), *PATHS, *more, stdin="", limit=_LIMIT
    )


def in_place(now: SchedulerState, wanted: ScheduleFiles) -> bool:
    """Whether the node has just these files, and its timer runs with them."""
    sums = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in wanted.texts.items()}
    runs = not now.systemd or not wanted.texts or (now.active is True and now.stale is False)
    return now.files == sums and now.links == dict(wanted.links) and runs


def _lines(files: ScheduleFiles) -> Iterator[str]:
    for path, text in files.texts.items():
        mode = "755" if path in files.programs else "644"
        yield f"{mode} {path} {base64.b64encode(text.encode()).decode()}"
    for path, target in files.links.items():
        yield f"link {path} {target}"
    for path in files.absent:
        yield f"absent {path} -"
