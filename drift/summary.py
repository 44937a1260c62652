"""What a run comes to: where each node stands, what has changed, the exit code and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pyinfra_nvml.audit.baseline import Baseline
from pyinfra_nvml.audit.record import RecordedAudit
from pyinfra_nvml.audit.run_record import Change, RunRecord, WaivedFinding, node_record
from pyinfra_nvml.audit.standing import Standing, exit_code, standings
from pyinfra_nvml.drift.changes import changes
from pyinfra_nvml.drift.exit_scheme import CLEAN, UNKNOWN, Scheme, status_line


@dataclass(frozen=True)
class RunOutcome:
    """An audit as it counts on one day; ``exit`` is the plain code, with its reason.

    ``results`` is when the nodes were asked, ``accepted`` when the state was that they are held to.
    ``audited`` is whether the run gave the audit that is judged, not one before it; ``report`` is
    what pyinfra's run printed, ``why_no_changes`` why nothing is told of what has changed.
    """

    exit: int
    reason: str
    standings: Sequence[Standing] = ()
    changes: Sequence[Change] = ()
    waived: Sequence[WaivedFinding] = ()
    results: datetime | None = None
    accepted: datetime | None = None
    audited: bool = True
    report: Sequence[str] = ()
    why_no_changes: str = ""

    @property
    def record(self) -> RunRecord:
        """The part of drift.json that does not hang on when the run began and ended."""
        return RunRecord(
            exit=self.exit,
            reason=self.reason,
            audited=self.audited,
            results=self.results,
            accepted=self.accepted,
            nodes={node.node: node_record(node) for node in self.standings},
            changes=tuple(self.changes),
            waived=tuple(self.waived),
        )


def judge_run(
    today: RecordedAudit | None, baseline: Baseline, level: str | None, day: date
) -> RunOutcome:
    """The last audit, held to what was accepted; ``None``: there is none.

    What was accepted and cannot be understood hides nothing that the audit found.
    """
    found = standings(today.nodes if today else (), level, day)
    plain = exit_code(found)
    reason = status_line(Scheme.PLAIN, plain, found, "")
    if baseline.damaged and plain == CLEAN:
        plain, reason = UNKNOWN, baseline.why
    return RunOutcome(
        plain,
        reason,
        found,
        changes(baseline.state, today, day) if baseline.state and today else (),
        _waived(today, day) if today else (),
        today.time if today else None,
        baseline.state.time if baseline.state else None,
        why_no_changes=baseline.why,
    )


def _waived(today: RecordedAudit, day: date) -> list[WaivedFinding]:
    return [
        WaivedFinding(
            node.node,
            result.check,
            finding.subject,
            finding.waiver.owner,
            finding.waiver.reason,
            date.fromisoformat(finding.waiver.expires),
        )
        for node in today.nodes
        for result, finding in node.on(day).findings
        if finding.waiver and not finding.counts
    ]
