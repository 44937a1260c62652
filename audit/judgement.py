"""What the results of a node's checks come to: the worst level, what is waived, a few words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from pyinfra_nvml.model.finding import Finding, Level, Result, Status, by_urgency

WORDS = (
    "broken",
    "no answer",
    "at risk",
    "advice",
    "unknown",
    "waived",
    "ok",
    "no GPU",
    "not applicable",
)
"""What a node comes to, the worst first."""


class Judgement(ABC):
    """One node's results, judged in this run (audit/verdict.py) or read back (audit/record.py)."""

    results: tuple[Result, ...]

    @property
    @abstractmethod
    def no_answer(self) -> str | None:
        """Why the node did not answer at all, or ``None``."""

    @property
    @abstractmethod
    def no_gpu(self) -> bool:
        """Whether the node was asked and shows no NVIDIA GPU, nor any part of its driver."""

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
        if self.no_answer is not None:
            return "no answer"
        words = [self.worst.value] if self.worst else []
        if self.waived:
            words.append(f"{self.waived} waived")
        if self.doubts:
            words.append(f"{self.doubts} unknown")
        if words:
            return ", ".join(words)
        if self.no_gpu:
            return "no GPU"
        statuses = {result.status for result in self.results}
        return "ok" if Status.OK in statuses else "not applicable"

    @cached_property
    def word(self) -> str:
        """What it comes to, one of ``WORDS``."""
        if self.no_answer is not None:
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
