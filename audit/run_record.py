"""What a scheduled run came to, as it is kept in drift.json (docs/drift.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field, Strict, TypeAdapter

from pyinfra_nvml.audit.json_file import Day, Number, Time, parse_record, read_record
from pyinfra_nvml.audit.standing import Standing
from pyinfra_nvml.model.finding import Level, Status

RUN_VERSION = 1
"""Goes up when a reader of the old form could be misled; a new key alone does not raise it."""


LONGEST_INTERVAL = 100_000_000
"""Seconds, three years: more is a slip, and than 2**31 more than alarm(2) takes."""


@dataclass(frozen=True)
class Change:
    """One difference on one node; ``before`` and ``after`` are levels, or a fact in words.

    .. code:: python

        Change("gpu-01", "new finding", "device-loss", "container trainer", None, "broken")
        Change("gpu-01", "changed fact", None, "loaded driver", "550.90.07", "550.107.02")
    """

    node: str
    kind: str
    check: str | None
    subject: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class WaivedFinding:
    """A finding that somebody answers for, through the day ``expires``."""

    node: str
    check: str
    subject: str
    owner: str
    reason: str
    expires: Day

    def to_json(self) -> dict[str, str]:
        """The waiver as drift.json has it."""
        return {**asdict(self), "expires": self.expires.isoformat()}


@dataclass(frozen=True)
class NodeRecord:
    """How a node stood, by its name in the record: an ``audit.standing.Standing`` as it is kept."""

    status: Status
    level: Level | None = None
    reboot: str | None = None
    summary: str = ""

    def to_json(self) -> dict[str, str | None]:
        """The node as drift.json has it."""
        level = self.level.value if self.level else None
        return {
            "status": self.status.value,
            "level": level,
            "reboot": self.reboot,
            "summary": self.summary,
        }


@dataclass(frozen=True)
class RunRecord:
    """The last run. While ``ended`` is ``None`` it goes on or has died.

    All else is then from the run before, also where ``audited`` says that a run gave no audit.
    """

    started: Time | None = None
    ended: Time | None = None
    seconds: Number = 0.0
    interval: Annotated[Number, Field(gt=0, le=LONGEST_INTERVAL)] | None = None
    exit: Annotated[int, Strict()] = 2
    reason: str = "no run has ended yet"
    audited: bool = True
    inventory: str | None = None
    results: Time | None = None
    accepted: Time | None = None
    nodes: Mapping[str, NodeRecord] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    waived: tuple[WaivedFinding, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The document as docs/drift.schema.json has it; times are UTC, ISO 8601."""
        times = ("started", "ended", "results", "accepted")
        as_they_are = ("seconds", "interval", "exit", "reason", "audited", "inventory")
        return {
            "version": RUN_VERSION,
            **{name: _stamp(getattr(self, name)) for name in times},
            **{name: getattr(self, name) for name in as_they_are},
            "nodes": {name: node.to_json() for name, node in self.nodes.items()},
            "changes": [asdict(change) for change in self.changes],
            "waived": [waiver.to_json() for waiver in self.waived],
        }


def node_record(standing: Standing) -> NodeRecord:
    """How a node stands, as the record has it."""
    return NodeRecord(standing.status, standing.level, standing.reboot, standing.summary)


def _stamp(time: Time | None) -> str | None:
    return time.isoformat(timespec="seconds") if time else None


_RUN = TypeAdapter(RunRecord)


def read_run(path: Path, do: str = "") -> RunRecord:
    """The record in a file; raises ``json_file.Unreadable``, with ``do`` as its advice."""
    return read_record(_RUN, path, RUN_VERSION, do)


def parse_run(content: object, name: str) -> RunRecord:
    """The record that is this JSON; raises ``json_file.Unreadable`` with this name of it."""
    return parse_record(_RUN, content, name)
