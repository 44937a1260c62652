"""What a run comes to: where each node stands, what has changed, the exit code and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any

from pyinfra_nvml.audit import document_versions
from pyinfra_nvml.audit.accepted import Earlier
from pyinfra_nvml.audit.json_file import Unreadable, understood
from pyinfra_nvml.audit.standing import (
    Document,
    Standing,
    exit_code,
    findings,
    nodes,
    standings,
    waived,
)
from pyinfra_nvml.drift.changes import Change, changes
from pyinfra_nvml.drift.exit_scheme import (
    CLEAN,
    UNKNOWN,
    Scheme,
    line,
)
from pyinfra_nvml.drift.results import ACCEPT_AGAIN, RUN_AGAIN


@dataclass(frozen=True)
class Judged:
    """An audit's document as it counts on one day; ``exit`` is the plain code, with its reason.

    ``audited`` is whether the run gave the audit that is judged, not one before it; ``report`` is
    what pyinfra's run printed, ``untold`` why nothing is told of what has changed.
    """

    exit: int
    reason: str
    standings: Sequence[Standing] = ()
    changes: Sequence[Change] = ()
    waivers: Sequence[Mapping[str, str]] = ()
    times: Mapping[str, str | None] = field(default_factory=dict)
    audited: bool = True
    report: Sequence[str] = ()
    untold: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The part of drift.json that does not hang on when the run began and ended."""
        return {
            "version": document_versions.DRIFT,
            "exit": self.exit,
            "reason": self.reason,
            "audited": self.audited,
            **self.times,
            "nodes": {node.node: _plain(node) for node in self.standings},
            "changes": [asdict(change) for change in self.changes],
            "waived": list(self.waivers),
        }


def judged(today: Document | None, earlier: Earlier, level: str | None, day: date) -> Judged:
    """The last audit, held to what was accepted; ``None``: there is none.

    What was accepted and cannot be understood hides nothing that the audit found.
    """
    with understood("audit.json", RUN_AGAIN):
        found = standings(today or {}, level, day)
        hidden = [*_waived(today or {}, day)]
        asked = _time(today)
    accepted, changed = None, []
    try:
        with understood("accepted.json", ACCEPT_AGAIN):
            accepted = _time(earlier.state)
            changed = changes(earlier.state, today, day) if earlier.state and today else []
    except Unreadable as fault:
        earlier = Earlier(why=str(fault), damaged=True)
    plain = exit_code(found)
    reason = line(Scheme.PLAIN, plain, found, "")
    if earlier.damaged and plain == CLEAN:
        plain, reason = UNKNOWN, earlier.why
    times = {"results": asked, "accepted": accepted if not earlier.why else None}
    return Judged(plain, reason, found, changed, hidden, times, untold=earlier.why)


def _time(document: Document | None) -> str | None:
    """When it was made, in its own words, if that is a time."""
    if document is None:
        return None
    datetime.fromisoformat(document["time"])
    return str(document["time"])


def _plain(node: Standing) -> dict[str, str | None]:
    return {
        "status": node.status.value,
        "level": node.level,
        "reboot": node.reboot,
        "summary": node.summary,
    }


def _waived(today: Document, day: date) -> Sequence[Mapping[str, str]]:
    return [
        {
            "node": node["node"],
            "check": check,
            "subject": finding["subject"],
            **{key: finding["waiver"][key] for key in ("owner", "reason", "expires")},
        }
        for node in nodes(today)
        for check, finding in findings(node)
        if waived(finding, day)
    ]
