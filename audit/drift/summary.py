"""What a run comes to: where each node stands, what has changed, the exit code and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from audit import document_versions
from audit.drift.changes import Change, changes
from audit.drift.exit_scheme import Scheme, line
from audit.drift.results import ACCEPT_AGAIN, RUN_AGAIN
from audit.drift.standing import Document, Standing, exit_code, findings, nodes, standings, waived
from audit.json_file import understood


@dataclass(frozen=True)
class Judged:
    """An audit's document as it counts on one day; ``exit`` is the plain code, with its reason.

    ``audited`` is whether the run gave the audit that is judged, not one before it; ``report`` is
    what pyinfra's run printed.
    """

    exit: int
    reason: str
    standings: Sequence[Standing] = ()
    changes: Sequence[Change] = ()
    waivers: Sequence[Mapping[str, str]] = ()
    times: Mapping[str, str | None] = field(default_factory=dict)
    audited: bool = True
    report: Sequence[str] = ()

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


def judged(
    today: Document | None, accepted: Document | None, level: str | None, day: date
) -> Judged:
    """The last audit, held to what was accepted; ``None``: there is none."""
    with understood("audit.json", RUN_AGAIN):
        found = standings(today or {}, level, day)
        hidden = [*_waived(today or {}, day)]
        asked = _time(today)
    with understood("accepted.json", ACCEPT_AGAIN):
        times = {"results": asked, "accepted": _time(accepted)}
        changed = changes(accepted, today, day) if accepted and today else []
    plain = exit_code(found)
    reason = line(Scheme.PLAIN, plain, found, "")
    return Judged(plain, reason, found, changed, hidden, times)


def _time(document: Document | None) -> str | None:
    return document["time"] if document is not None else None


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
