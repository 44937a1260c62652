"""A scheduled audit of a node: the files that it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pprint import pformat

from pyinfra_nvml.drift import cron_time
from pyinfra_nvml.facts.scheduler import SchedulerState
from pyinfra_nvml.settings.schedule import ScheduleSettings
from pyinfra_nvml.templates import rendered

UNITS = "/etc/systemd/system"
SERVICE = f"{UNITS}/pyinfra-nvml-drift.service"
TIMER = f"{UNITS}/pyinfra-nvml-drift.timer"
BOOT = f"{UNITS}/pyinfra-nvml-drift-boot.service"
WANTED = f"{UNITS}/multi-user.target.wants/pyinfra-nvml-drift-boot.service"
CRON = "/etc/cron.d/pyinfra-nvml-drift"
INVENTORY = "/etc/pyinfra-nvml/inventory.py"
HEALTH = "/usr/local/sbin/pyinfra-nvml-health"
PATHS = (SERVICE, TIMER, BOOT, WANTED, CRON, INVENTORY, HEALTH)
"""Every path that may be ours."""

_MARGIN = 20
"""Seconds that the program has to write what it knows, before its unit's limit ends it."""


@dataclass(frozen=True)
class ScheduleFiles:
    """What is to be on the node: texts by path, links by path, and which of them are programs."""

    texts: Mapping[str, str]
    links: Mapping[str, str]
    programs: frozenset[str] = frozenset()

    @property
    def absent(self) -> tuple[str, ...]:
        """Those of our paths that are not to be there."""
        return tuple(path for path in PATHS if path not in self.texts and path not in self.links)


NOTHING = ScheduleFiles({}, {})

_OF_THE_RUN = ("canary", "batch_size", "max_failures", "max_unavailable", "accept")
_OF_THIS_MACHINE = ("report_", "kube", "_")
"""Settings about changing a fleet, and about files here: a node that looks at itself has no use for
them."""


def carried(settings: Mapping[str, object], host: str) -> dict[str, object]:
    """The settings that a node takes along to judge itself by, its waivers among them.

    There its name is @local: a waiver for this host is one for every host of its inventory.
    """
    kept = {
        name: value
        for name, value in settings.items()
        if value is not None and name not in _OF_THE_RUN and not name.startswith(_OF_THIS_MACHINE)
    }
    waivers = kept.get("waivers")
    if isinstance(waivers, (list, tuple)):
        mine = [each for each in waivers if isinstance(each, Mapping) and _holds(each, host)]
        kept["waivers"] = [{**_as_text(each), "hosts": ["*"]} for each in mine]
    return kept


def _as_text(waiver: Mapping[str, object]) -> dict[str, object]:
    """A waiver without objects: a date in it is one that the file could not name."""
    return {
        key: [str(each) for each in value] if isinstance(value, (list, tuple)) else str(value)
        for key, value in waiver.items()
    }


def _holds(waiver: Mapping[str, object], host: str) -> bool:
    patterns = waiver.get("hosts") or ("*",)
    patterns = (patterns,) if isinstance(patterns, str) else patterns
    return isinstance(patterns, (list, tuple)) and any(fnmatchcase(host, str(p)) for p in patterns)


def schedule_files(
    settings: ScheduleSettings, scheduler: SchedulerState, host: str, carried: Mapping[str, object]
) -> ScheduleFiles:
    """The files of this schedule; ``carried`` are the settings by which a node judges itself."""
    texts: dict[str, str] = {}
    links: dict[str, str] = {}
    argv = audit_command(settings, seconds_between(settings, scheduler))
    if scheduler.systemd:
        texts[SERVICE] = _service(settings, argv)
        texts[TIMER] = rendered(TIMER, calendar=settings.drift_schedule, delay=settings.drift_delay)
        texts[BOOT] = rendered(BOOT)
        links[WANTED] = f"../{BOOT.rpartition('/')[2]}"
    else:
        texts[CRON] = _crontab(settings, argv, host)
    if settings.drift_mode == "node":
        texts[INVENTORY] = rendered(INVENTORY, settings=pformat(dict(carried)))
    if settings.drift_slurm:
        texts[HEALTH] = rendered(
            HEALTH,
            home=settings.drift_home,
            results=settings.drift_results,
            inventory=settings.drift_inventory or INVENTORY,
            level=settings.drift_slurm,
            unknown="drain" if settings.drift_slurm_unknown else "leave",
        )
    return ScheduleFiles(texts, links, frozenset({HEALTH}) & texts.keys())


def audit_command(settings: ScheduleSettings, interval: int) -> tuple[str, ...]:
    """The audit as it is started; no word of it has a blank or a quote (settings/schedule.py),
    but the level."""
    words = [f"{settings.drift_home}/current/bin/nvml-audit", settings.drift_inventory or INVENTORY]
    words += ["--results", settings.drift_results, "--interval", str(interval)]
    words += ["--time-limit", str(settings.drift_limit - _MARGIN)]
    words += ["--level", settings.drift_level] if settings.drift_level else []
    words += ["--textfile", settings.drift_textfile] if settings.drift_textfile else []
    return tuple(words)


def seconds_between(settings: ScheduleSettings, scheduler: SchedulerState) -> int:
    """The longest time between two runs; 0 where it is not known, which is refused."""
    if scheduler.systemd and isinstance(scheduler.gap, int):
        return scheduler.gap
    said = cron_time.cron_entry(settings.drift_schedule)
    return said[1] if said else 0


def directory(path: str | None) -> str | None:
    """The directory of a file, where there is one."""
    return path.rpartition("/")[0] if path else None


def _service(settings: ScheduleSettings, argv: tuple[str, ...]) -> str:
    textfile = directory(settings.drift_textfile)
    return rendered(
        SERVICE,
        mode=settings.drift_mode,
        # Only the level has a blank; systemd.service(5), COMMAND LINES, takes double quotes.
        command=" ".join(f'"{word}"' if " " in word else word for word in argv),
        limit=settings.drift_limit,
        user=settings.user,
        results=settings.drift_results,
        writable=[path for path in (settings.drift_results, textfile) if path],
    )


def _crontab(settings: ScheduleSettings, argv: tuple[str, ...], host: str) -> str:
    said = cron_time.cron_entry(settings.drift_schedule)
    return rendered(
        CRON,
        time=said[0] if said else "",
        user=settings.user,
        delay=cron_time.start_delay(host, settings.drift_delay),
        limit=settings.drift_limit,
        results=settings.drift_results,
        command=" ".join(f"'{word}'" if " " in word else word for word in argv),
    )
