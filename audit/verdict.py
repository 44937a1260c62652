"""One node's verdict: all results of its checks, and what they come to in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone

from typing_extensions import override

from pyinfra_nvml.audit.applied_waivers import apply_waivers
from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.audit.judgement import Judgement
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Result
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.policy import Policy
from pyinfra_nvml.settings.waivers import Waiver


@dataclass(frozen=True)
class Verdict(Judgement):
    """What the audit says of one node; ``state`` is ``Unknown`` where it did not answer at all.

    ``execs`` is how many commands were sent to the node to know all this.
    """

    node: str
    state: NodeState | Unknown
    results: tuple[Result, ...]
    execs: int = 0

    @property
    @override
    def no_answer(self) -> str | None:
        return self.state.reason if isinstance(self.state, Unknown) else None

    @property
    @override
    def no_gpu(self) -> bool:
        return (
            not isinstance(self.state, Unknown)
            and self.state.nvidia_driver is None
            and self.state.wsl is None
        )


def verdict(
    node: str,
    state: NodeState | Unknown,
    execs: int = 0,
    policy: Policy | None = None,
    waived: Sequence[Waiver] = (),
    day: date | None = None,
) -> Verdict:
    """Judges what a node said; one that did not answer has no results.

    ``waived`` are the inventory's waivers as of ``day``; today in UTC where none is given.
    """
    if isinstance(state, Unknown):
        return Verdict(node, state, (), execs)
    today = day or datetime.now(timezone.utc).date()
    results = apply_waivers(judge(state, policy), node, waived, today)
    return Verdict(node, state, results, execs)


def unreached(node: str, reason: str) -> Verdict:
    """A node of the inventory that could not be connected to."""
    return Verdict(node, Unknown(reason), ())
