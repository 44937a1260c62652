"""An audit as it is kept in audit.json and accepted.json, and read back from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, TypeAdapter
from typing_extensions import override

from pyinfra_nvml.audit.applied_waivers import as_of
from pyinfra_nvml.audit.fact_paths import FactPath, Untold, fact_at
from pyinfra_nvml.audit.json_file import Day, Time, parse_record, read_record
from pyinfra_nvml.audit.judgement import Judgement
from pyinfra_nvml.model.finding import Finding, Result
from pyinfra_nvml.model.unknown import plain

AUDIT_VERSION = 1
"""Goes up when a reader of the old form could be misled; a new key alone does not raise it."""


def _dated(results: tuple[Result, ...]) -> tuple[Result, ...]:
    """Refuses a waiver whose last day is none."""
    return as_of(results, date.min)


@dataclass(frozen=True)
class RecordedVerdict(Judgement):
    """What an audit said of one node, beside what that run meant to change there.

    ``facts`` are those of facts.node.NodeState as JSON, ``asked`` is the level that counts on it
    (``none``: no level), ``stale`` says that a change failed, ``day`` when it was accepted.
    """

    node: str
    results: Annotated[tuple[Result, ...], Field(validation_alias="checks"), AfterValidator(_dated)]
    no_answer: str | None = None
    reboot: str | None = None
    execs: int = 0
    facts: Mapping[str, Any] | None = None
    plan: tuple[str, ...] = ()
    not_touched: str | None = None
    stale: bool = False
    asked: str | None = None
    day: Day | None = None

    @property
    @override
    def no_gpu(self) -> bool:
        try:
            told = [fact_at(self.facts or {}, path) for path in (FactPath.DRIVER, FactPath.WSL)]
        except Untold:
            return False
        return told == [None, None]

    def on(self, day: date) -> RecordedVerdict:
        """The same with every waiver as it counts on this day."""
        return replace(self, results=as_of(self.results, day))

    def to_json(self) -> dict[str, object]:
        """The node as docs/audit.schema.json has it."""
        return {
            "node": self.node,
            "verdict": self.summary,
            "level": self.worst.value if self.worst else None,
            "reboot": self.reboot,
            "no_answer": self.no_answer,
            "execs": self.execs,
            "checks": [_result(result) for result in self.results],
            "facts": self.facts,
            "plan": list(self.plan),
            "not_touched": self.not_touched,
            "stale": self.stale,
            "asked": self.asked,
            **({"day": self.day.isoformat()} if self.day else {}),
        }


_NOT_TOLD = ("fix", "target", "remedies")
"""What of a finding is for the plan of a deploy; ``do`` and ``repair`` say it for people."""


def _result(result: Result) -> dict[str, object]:
    return {
        "check": result.check,
        "area": result.area.value,
        "status": result.status.value,
        "reason": result.reason,
        "findings": [_finding(finding) for finding in result.findings],
        "doubts": plain(result.doubts),
    }


def _finding(finding: Finding) -> dict[str, object]:
    told = cast("dict[str, object]", plain(finding))
    return {name: value for name, value in told.items() if name not in _NOT_TOLD}


@dataclass(frozen=True)
class RecordedAudit:
    """The audit of a fleet, in the order of its inventory; ``limited``: of a part of it alone.

    ``inventory`` is the one that it was accepted of, where somebody said.
    """

    time: Time
    nodes: tuple[RecordedVerdict, ...]
    limited: bool = False
    inventory: str | None = None

    def to_json(self) -> dict[str, object]:
        """The document as docs/audit.schema.json has it; times are UTC, ISO 8601."""
        return {
            "version": AUDIT_VERSION,
            "time": self.time.isoformat(timespec="seconds"),
            "limited": self.limited,
            **({"inventory": self.inventory} if self.inventory else {}),
            "nodes": [node.to_json() for node in self.nodes],
        }


_AUDIT = TypeAdapter(RecordedAudit)


def read_audit(path: Path, do: str = "") -> RecordedAudit:
    """The audit in a file; raises ``json_file.Unreadable``, with ``do`` as its advice."""
    return read_record(_AUDIT, path, AUDIT_VERSION, do)


def parse_audit(content: object, name: str) -> RecordedAudit:
    """The audit that is this JSON; raises ``json_file.Unreadable`` with this name of it."""
    return parse_record(_AUDIT, content, name)
