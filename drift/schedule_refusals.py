"""Every reason not to install a scheduled audit on a node, each with what to do instead."""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.drift import cron_time
from pyinfra_nvml.drift.schedule_plan import directory, seconds_between
from pyinfra_nvml.drift.wheel_target import unsupported_python
from pyinfra_nvml.facts.interpreter import InterpreterState
from pyinfra_nvml.facts.scheduler import SchedulerState
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.schedule import SERVICE_USER, ScheduleSettings


def needed(settings: ScheduleSettings) -> tuple[str, ...]:
    """The paths that have to be on the node already."""
    inventory = settings.drift_inventory if settings.drift_mode == "controller" else None
    textfile = directory(settings.drift_textfile)
    # A directory of ours is made by the installation.
    ours = textfile == settings.drift_results
    return tuple(path for path in (inventory, None if ours else textfile) if path)


def schedule_refusals(
    settings: ScheduleSettings,
    scheduler: SchedulerState | Unknown,
    python: InterpreterState | Unknown | None,
) -> Iterator[Refusal]:
    """Every reason against installing the schedule on this node."""
    if isinstance(python, Unknown):
        yield Refusal(settings.drift_python, python.reason, "it to say which Python it is")
    elif python is None:
        do = "install python3 and python3-venv, or audit this node from a controller"
        yield Refusal(settings.drift_python, "no such program", "Python 3.10 or newer", do)
    elif found := unsupported_python(python):
        yield Refusal(python.path, *found)
    if isinstance(scheduler, Unknown):
        yield Refusal("scheduler", scheduler.reason, "to know whether systemd or cron runs here")
    else:
        yield from _times(settings, scheduler)
        yield from _needs(settings, scheduler)


def _times(settings: ScheduleSettings, scheduler: SchedulerState) -> Iterator[Refusal]:
    name = f"drift_schedule {settings.drift_schedule!r}"
    gap = seconds_between(settings, scheduler)
    if scheduler.systemd and isinstance(scheduler.gap, Unknown) and not gap:
        yield Refusal(name, scheduler.gap.reason, "an OnCalendar= of systemd.time(7)")
    elif not scheduler.systemd and not scheduler.cron:
        do = "audit this node from a controller"
        yield Refusal("scheduler", "neither systemd nor a cron that runs", "one of them", do)
    elif not scheduler.systemd and cron_time.cron_entry(settings.drift_schedule) is None:
        yield Refusal(name, "no systemd here, and cron cannot say it", cron_time.KNOWN)
    taken = settings.drift_delay + settings.drift_limit
    if gap and taken >= gap:
        saw = f"{taken} s, with {gap} s between two runs"
        yield Refusal("drift_delay and drift_limit", saw, "less: else results are old before new")


def _needs(settings: ScheduleSettings, scheduler: SchedulerState) -> Iterator[Refusal]:
    if isinstance(scheduler.uid, Unknown):
        yield Refusal("user", scheduler.uid.reason, "root")
    elif scheduler.uid != 0:
        yield Refusal("user", f"uid {scheduler.uid}", "root", "set _sudo = True for this host")
    if settings.drift_user not in (None, SERVICE_USER) and scheduler.user is not True:
        saw = scheduler.user.reason if isinstance(scheduler.user, Unknown) else "no such user"
        yield Refusal(f"drift_user {settings.drift_user}", saw, "a user of this node")
    if isinstance(scheduler.missing, Unknown):
        yield Refusal("paths", scheduler.missing.reason, "to know that what is needed is there")
    else:
        for path in scheduler.missing:
            yield Refusal(path, "no such file or directory", "it to be there before the schedule")
