"""One node's verdict: all results of its checks, and what they come to in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from functools import cached_property

from pyinfra_nvml.audit.applied_waivers import applied
from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import (
    Finding,
    Level,
    Result,
    Status,
    by_urgency,
)
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.policy import Wishes
from pyinfra_nvml.settings.waivers import Waiver

WORDS = ("broken", "no answer", "at risk", "advice", "unknown", "waived", "ok", "not applicable")
"""What a node comes to, the worst first."""


@dataclass(frozen=True)
class Verdict:
    """What the audit says of one node; ``state`` is ``Unknown`` where it did not answer at all.

    ``execs`` is how many commands were sent to the node to know all this.
    """

    node: str
    state: NodeState | Unknown
    results: tuple[Result, ...]
    execs: int = 0

    @cached_property
    def findings(self) -> tuple[tuple[Result, Finding], ...]:
        """Every finding with its check, in the order to look."""
        return tuple(by_urgency(self.results))

    @cached_property
    def worst(self) -> Level | None:
        """The worst level of what counts: no finding that is waived."""
        levels = {finding.level for _, finding in self.findings if finding.counts}
        return next((level for level in Level if level in levels), None)

    @property
    def waived(self) -> int:
        """How many findings somebody answers for."""
        return sum(not finding.counts for _, finding in self.findings)

    @cached_property
    def doubts(self) -> int:
        """How many distinct things could not be told."""
        return len({doubt for result in self.results for doubt in result.doubts})

    @cached_property
    def summary(self) -> str:
        """The last column of the fleet table: ``broken, 1 waived, 2 unknown``, ``no answer``."""
        if isinstance(self.state, Unknown):
            return "no answer"
        words = [self.worst.value] if self.worst else []
        if self.waived:
            words.append(f"{self.waived} waived")
        if self.doubts:
            words.append(f"{self.doubts} unknown")
        if words:
            return ", ".join(words)
        statuses = {result.status for result in self.results}
        return "ok" if Status.OK in statuses else "not applicable"

    @cached_property
    def word(self) -> str:
        """What it comes to, one of ``WORDS``."""
        if isinstance(self.state, Unknown):
            return "no answer"
        if self.worst:
            return self.worst.value
        if self.doubts:
            return "unknown"
        return "waived" if self.waived else self.summary

    def reaches(self, level: Level | None) -> bool:
        """Whether a finding is at or above this level; ``None`` is never reached."""
        levels = list(Level)
        if level is None or self.worst is None:
            return False
        return levels.index(self.worst) <= levels.index(level)


def verdict(
    node: str,
    state: NodeState | Unknown,
    execs: int = 0,
    wishes: Wishes | None = None,
    waived: Sequence[Waiver] = (),
    day: date | None = None,
) -> Verdict:
    """Judges what a node said; one that did not answer has no results.

    ``waived`` are the inventory's waivers as of ``day``; today in UTC where none is given.
    """
    if isinstance(state, Unknown):
        return Verdict(node, state, (), execs)
    today = day or datetime.now(timezone.utc).date()
    results = applied(judge(state, wishes), node, waived, today)
    return Verdict(node, state, results, execs)


def unreached(node: str, reason: str) -> Verdict:
    """A node of the inventory that could not be connected to."""
    return Verdict(node, Unknown(reason), ())
