"""This node in Slurm's eyes, and what to do with it: drain, resume, or leave it alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from pyinfra_nvml.model.finding import Status
from pyinfra_nvml.model.unknown import Unknown

REASON_PREFIX = "pyinfra-nvml: "
"""Stands before every reason of ours."""

_LONGEST = 200
"""Characters of a reason; slurmdbd keeps 255 bytes of it (tinytext in its node_event_table)."""

# scontrol(1), show node, one field a line; slurmctld puts who set the reason, and when, behind it.
_STATE = re.compile(r"^ *State=(\S+)", re.MULTILINE)
_REASON = re.compile(r"^ *Reason=(.*?)(?: \[\S+@[-\dT:]+\])?$", re.MULTILINE)


@dataclass(frozen=True)
class SlurmNode:
    """A node's states and the reason that stands there, without who set it and when.

    .. code:: python

        SlurmNode(states=frozenset({"IDLE", "DRAIN"}), reason="disk swap, ask the night shift")
    """

    states: frozenset[str]
    reason: str

    @property
    def drained(self) -> bool:
        """Whether slurmctld gives it no new work (``DRAIN``: draining, too)."""
        return "DRAIN" in self.states


class Act(str, Enum):
    """What is asked of slurmctld."""

    DRAIN = "drain"
    RESUME = "resume"
    LEAVE = "leave"


@dataclass(frozen=True)
class Decision:
    """The act, the reason that goes with a drain, and in one line why."""

    act: Act
    why: str
    reason: str = ""


def slurm_node(text: str) -> SlurmNode | Unknown:
    """What ``scontrol show node NAME`` prints (seen with Slurm 22.05)."""
    state = _STATE.search(text)
    if state is None:
        return Unknown(f"scontrol show node: saw {text.strip()[:80]!r}, want State=")
    # "*" is a node that does not answer, "+" joins flags to the base state (sinfo(1), NODE STATE).
    states = frozenset(re.sub(r"[*~#!%$@^-]+$", "", word) for word in state[1].split("+"))
    reason = _REASON.search(text)
    return SlurmNode(states, reason[1].strip() if reason else "")


def reason_of(summary: str) -> str:
    """A drain reason of one line that scontrol takes as it is: no quotes, no other alphabets."""
    plain = "".join(c if " " <= c <= "~" and c not in "\"'\\" else " " for c in summary)
    return (REASON_PREFIX + " ".join(plain.split()))[:_LONGEST].rstrip()


def decision(
    status: Status, summary: str, now: SlurmNode, ours: str | None, unknown_drains: bool = False
) -> Decision:
    """What to do; ``ours`` is the reason with which we drained it, where we did.

    A reason of somebody else is never written over, and only a drain of ours is taken back.
    """
    bad = status is Status.FOUND or (status is Status.UNKNOWN and unknown_drains)
    mine = ours is not None and now.reason == ours
    if bad:
        return _drain(reason_of(summary), now, mine)
    if not now.drained:
        return Decision(Act.LEAVE, f"not drained, the audit says {status.value}")
    if not mine:
        return Decision(Act.LEAVE, f"drained by somebody else: {now.reason or 'no reason'}")
    if status is Status.UNKNOWN:
        return Decision(Act.LEAVE, f"drained by us, and it could not be told: {summary}")
    if "DOWN" in now.states:
        return Decision(Act.LEAVE, "down as well, which is not ours to end")
    return Decision(Act.RESUME, "drained by us, the audit finds nothing now")


def _drain(reason: str, now: SlurmNode, mine: bool) -> Decision:
    if now.drained and mine:
        # The reason of the first finding stays, with its time: it names what drained the node.
        return Decision(Act.LEAVE, f"drained by us already: {now.reason}")
    if now.drained or now.reason:
        other = now.reason or "drained without a reason"
        return Decision(Act.LEAVE, f"it has somebody else's reason: {other}")
    return Decision(Act.DRAIN, reason.removeprefix(REASON_PREFIX), reason)
