"""Why a node is left alone: one reason, and the names of those that may be overruled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override


@dataclass(frozen=True)
class Refusal:
    """One reason to leave a node alone: what was seen, what would be wanted, what to do instead.

    ``knob`` is its name in the knob ``overrule``; one without a name would break the host, and no
    knob lets it pass.
    """

    subject: str
    saw: str
    want: str
    instead: str = ""
    knob: str = ""

    @override
    def __str__(self) -> str:
        more = f"; {self.instead}" if self.instead else ""
        way = f" (overrule = {self.knob!r})" if self.knob else ""
        return f"{self.subject}: saw {self.saw}, want {self.want}{more}{way}"


OVERRULABLE = (
    "data-root",
    "ecs",
    "gpu-lost",
    "guest",
    "harmless",
    "kubelet",
    "kured",
    "libraries",
    "no-cgroups",
    "paused",
    "remove",
    "scheduler",
    "skew",
    "stuck",
)
"""The names that the knob ``overrule`` takes."""


def standing(found: Iterable[Refusal], overruled: Iterable[str]) -> tuple[Refusal, ...]:
    """Those that the operator has not overruled."""
    names = set(overruled)
    return tuple(one for one in found if not (one.knob and one.knob in names))
