"""An audit of this run, to be kept: every verdict, beside what the run meant to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pyinfra_nvml.audit.record import RecordedAudit, RecordedVerdict
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.unknown import Unknown, plain
from pyinfra_nvml.plans.pending_reboot import pending_reboot

FAILED = "a change failed here: what stands above is from before it, or from its middle"


@dataclass(frozen=True)
class Run:
    """What a run meant to change: the plan told for each host, who was left alone, who failed.

    ``asked`` is the level that each host's ``audit_level`` asks for, ``limited`` whether the run
    was about a part of its inventory.
    """

    plans: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untouched: Mapping[str, str] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()
    asked: Mapping[str, str] = field(default_factory=dict)
    limited: bool = False

    def notes(self, node: str) -> tuple[str, ...]:
        """What to know beside a node's verdict: a change that failed, or that was not begun."""
        told = []
        if node in self.failed:
            told.append(FAILED)
        if node in self.untouched:
            told.append(f"not touched: {self.untouched[node]}")
        return tuple(told)


def record_audit(
    verdicts: Sequence[Verdict], at: datetime, run: Run | None = None
) -> RecordedAudit:
    """The audit of a fleet, in the order of its inventory.

    A node on which a change failed is shown as it was before: ``stale``.
    """
    run = run or Run()
    return RecordedAudit(at, tuple(_recorded(verdict, run) for verdict in verdicts), run.limited)


def _recorded(verdict: Verdict, run: Run) -> RecordedVerdict:
    name, state = verdict.node, verdict.state
    facts: Any = None if isinstance(state, Unknown) else plain(state)
    return RecordedVerdict(
        name,
        verdict.results,
        no_answer=verdict.no_answer,
        reboot=pending_reboot(verdict.results),
        execs=verdict.execs,
        facts=facts,
        plan=tuple(run.plans.get(name, ())),
        not_touched=run.untouched.get(name),
        stale=name in run.failed,
        asked=run.asked.get(name),
    )
