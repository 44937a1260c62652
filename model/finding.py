"""The words of a verdict: status, level, repair, finding, doubt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from pyinfra_nvml.model.remedy import Remedy, Repair


class Level(str, Enum):
    """How bad it is: fails now, will fail at a named trigger, or worth knowing."""

    BROKEN = "broken"
    AT_RISK = "at risk"
    ADVICE = "advice"


LEVELS = tuple(level.value for level in Level)
"""Their words, the worst first."""


class Status(str, Enum):
    """What a check says of a node. Unknown is never ok."""

    OK = "ok"
    FOUND = "found"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"


class Area(str, Enum):
    """The order in which to look: versions, then cgroup driver and version, then the rest."""

    VERSIONS = "versions"
    CGROUP = "cgroup"
    DEVICES = "rest"


@dataclass(frozen=True)
class Waived:
    """Who answers for a finding, why, and through which day; ``expired``: it counts again.

    .. code:: python

        Waived("gpu-team", "replaced in January", "2027-01-31", expired=False)
    """

    owner: str
    reason: str
    expires: str
    expired: bool


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    ``subject`` names a node's part (``container trainer``), ``saw`` and ``want`` stand beside each
    other in the report, ``why`` is one sentence, ``do`` the next act, ``avoid`` what does not help
    or does harm, ``evidence`` the lines of the node that prove it, ``reference`` where to read on.
    ``fix`` names by id the remedies that mend it, the best first, and ``target`` the part of the
    node that they are for (a container's id); ``remedies`` are these as they fit this node
    (remedies/prescribe.py), which also says ``repair`` and ``do``.
    """

    level: Level
    subject: str
    saw: str
    want: str
    why: str
    repair: Repair = Repair.NONE
    do: str = ""
    avoid: str = ""
    evidence: tuple[str, ...] = ()
    reference: str = ""
    waiver: Waived | None = None
    fix: tuple[str, ...] = ()
    target: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether nobody answers for it today."""
        return self.waiver is None or self.waiver.expired

    @property
    def standing(self) -> str:
        """Its level, and whether it counts: ``broken``, ``broken, waived``."""
        return self.level.value if self.counts else f"{self.level.value}, waived"


@dataclass(frozen=True)
class Undetermined:
    """What a check could not tell, and why."""

    subject: str
    reason: str


@dataclass(frozen=True)
class NotApplicable:
    """Why a check has nothing to say of this node."""

    reason: str


Outcome = Finding | Undetermined | NotApplicable
"""What a check yields; a check that yields nothing found everything as it should be."""


@dataclass(frozen=True)
class Result:
    """A check's whole answer for one node."""

    check: str
    area: Area
    status: Status
    findings: tuple[Finding, ...] = ()
    doubts: tuple[Undetermined, ...] = ()
    reason: str = ""


def result(check: str, area: Area, outcomes: Iterable[Outcome]) -> Result:
    """Gathers what a check yielded: any finding is found, any doubt unknown, nothing is ok."""
    seen = list(outcomes)
    if not seen:
        return Result(check, area, Status.OK)
    findings = tuple(outcome for outcome in seen if isinstance(outcome, Finding))
    doubts = tuple(outcome for outcome in seen if isinstance(outcome, Undetermined))
    reasons = tuple(outcome.reason for outcome in seen if isinstance(outcome, NotApplicable))
    if findings:
        status = Status.FOUND
    elif doubts:
        status = Status.UNKNOWN
    else:
        status = Status.NOT_APPLICABLE
    return Result(check, area, status, findings, doubts, "; ".join(reasons))


def by_urgency(results: Iterable[Result]) -> Iterator[tuple[Result, Finding]]:
    """Every finding with its check, in the order to look: area first, then level."""
    pairs = [(result, finding) for result in results for finding in result.findings]
    areas, levels = list(Area), list(Level)
    pairs.sort(key=lambda pair: (areas.index(pair[0].area), levels.index(pair[1].level)))
    return iter(pairs)
