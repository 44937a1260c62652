"""A node without systemd: when cron runs what OnCalendar= asks for, and how long it waits.

cron knows less than systemd.time(7), CALENDAR EVENTS. What stands here can be said in both; the
rest is refused, never guessed.
"""

from __future__ import annotations

import hashlib
import re

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_WORDS = {
    "minutely": ("* * * * *", _MINUTE),
    "hourly": ("0 * * * *", _HOUR),
    "daily": ("0 0 * * *", _DAY),
    "weekly": ("0 0 * * 1", 7 * _DAY),
}
_EVERY_MINUTES = re.compile(r"(?:\*-\*-\* )?\*:0?0/(\d{1,2})(?::00)?")
_EVERY_HOURS = re.compile(r"(?:\*-\*-\* )?0?0/(\d{1,2}):(\d{1,2})(?::00)?")
_AT_MINUTE = re.compile(r"(?:\*-\*-\* )?\*:(\d{1,2})(?::00)?")
_AT_TIME = re.compile(r"(?:\*-\*-\* )?(\d{1,2}):(\d{1,2})(?::00)?")
KNOWN = "minutely, hourly, daily, weekly, *:0/15, *:30, 0/6:00 or 03:30"
"""What is understood, for a message."""


def cron_entry(calendar: str) -> tuple[str, int] | None:
    """The five fields of crontab(5) and the seconds between two runs; None: not to be said there.

    .. code:: python

        cron("*:0/15") == ("*/15 * * * *", 900)
    """
    text = " ".join(calendar.split())
    if text in _WORDS:
        return _WORDS[text]
    # A step that does not divide the hour or the day leaves gaps of two lengths: not said here.
    if (found := _EVERY_MINUTES.fullmatch(text)) and _divides(step := int(found[1]), 60):
        return f"*/{step} * * * *", step * _MINUTE
    if (found := _EVERY_HOURS.fullmatch(text)) and _divides(step := int(found[1]), 24):
        return (f"{int(found[2])} */{step} * * *", step * _HOUR) if int(found[2]) < 60 else None
    if (found := _AT_MINUTE.fullmatch(text)) and int(found[1]) < 60:
        return f"{int(found[1])} * * * *", _HOUR
    if (found := _AT_TIME.fullmatch(text)) and int(found[1]) < 24 and int(found[2]) < 60:
        return f"{int(found[2])} {int(found[1])} * * *", _DAY
    return None


def start_delay(name: str, most: int) -> int:
    """Seconds that this host waits before each run: always the same, spread over 0 to ``most``."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return number % (most + 1)


def _divides(step: int, whole: int) -> bool:
    return 0 < step < whole and whole % step == 0
