"""A node's time stamps as text."""

from __future__ import annotations

from datetime import datetime, timezone

# 9999-12-31T23:59:59 UTC: datetime holds nothing later, and a file's time may be anything.
_LATEST = 253402300799


def utc(seconds: int) -> str:
    """Seconds since 1970, in UTC as ISO 8601.

    .. code:: python

        utc(1796027703) == "2026-11-30T08:35:03+00:00"
    """
    return datetime.fromtimestamp(min(seconds, _LATEST), timezone.utc).isoformat()
