"""The audit as a JSON document: every node, every check, every finding with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from pyinfra_nvml.audit import document_versions
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import Finding, Result
from pyinfra_nvml.model.unknown import Unknown, plain
from pyinfra_nvml.remedies.pending_reboot import pending_reboot

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


def document(
    verdicts: Sequence[Verdict], at: datetime, run: Run | None = None
) -> dict[str, object]:
    """The audit of a fleet, in the order of its inventory; times are UTC, ISO 8601.

    A node on which a change failed is shown as it was before: ``stale``.
    """
    run = run or Run()
    return {
        "version": document_versions.AUDIT,
        "time": at.isoformat(timespec="seconds"),
        "limited": run.limited,
        "nodes": [
            {
                **_node(verdict),
                "plan": list(run.plans.get(verdict.node, ())),
                "not_touched": run.untouched.get(verdict.node),
                "stale": verdict.node in run.failed,
                "asked": run.asked.get(verdict.node),
            }
            for verdict in verdicts
        ],
    }


def _node(verdict: Verdict) -> dict[str, object]:
    state = verdict.state
    return {
        "node": verdict.node,
        "verdict": verdict.summary,
        "level": verdict.worst.value if verdict.worst else None,
        "reboot": pending_reboot(verdict.results),
        "no_answer": state.reason if isinstance(state, Unknown) else None,
        "execs": verdict.execs,
        "checks": [_result(result) for result in verdict.results],
        "facts": None if isinstance(state, Unknown) else plain(state),
    }


def _result(result: Result) -> dict[str, object]:
    return {
        "check": result.check,
        "area": result.area.value,
        "status": result.status.value,
        "reason": result.reason,
        "findings": [_finding(finding) for finding in result.findings],
        "doubts": plain(result.doubts),
    }


_NOT_TOLD = ("fix", "target", "remedies")
"""What of a finding is for the plan of a deploy; ``do`` and ``repair`` say it for people."""


def _finding(finding: Finding) -> dict[str, object]:
    told = cast("dict[str, object]", plain(finding))
    return {name: value for name, value in told.items() if name not in _NOT_TOLD}
