"""Why a node is left alone: one reason, and what of it an operator may overrule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from typing_extensions import Self, override


class Overrule(str, Enum):
    """What an operator may overrule: its name, and what that means for a node."""

    sentence: str

    REMOVE = "remove", "containers that were started with --rm are lost"
    PAUSED = "paused", "the state of paused containers is lost"
    ECS = "ecs", "tasks of Amazon ECS are stopped"
    GPU_LOST = "gpu-lost", "a GPU that has left the bus does not come back by a restart"
    STUCK = "stuck", "a container with a process in state D may not stop"
    SKEW = "skew", "while the driver waits for its reboot, no GPU container starts again"
    DATA_ROOT = "data-root", "the symbolic link to the engine's directory is right"
    UNPROVEN_CONFIG = "unproven-config", "an edit may keep Docker from starting, nobody tried it"
    CGROUP_PARENT = "cgroup-parent", "Docker with systemd starts no container of such a parent"
    KUBELET = "kubelet", "the node was drained before its reboot"
    KURED = "kured", "kured may reboot the node as well"
    SCHEDULER = "scheduler", "jobs of the node's scheduler are stopped by the reboot"
    LIBRARIES = "libraries", "libraries of the driver that are part of an image stay as they are"
    GUEST = "guest", "the container has a kernel module of its own to reboot for"
    HARMLESS = "harmless", "every GPU comes by CDI, so another cgroup driver cures nothing"
    NO_CGROUPS = "no-cgroups", "the toolkit opens no device, so another cgroup driver cures nothing"

    def __new__(cls, word: str, sentence: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member


@dataclass(frozen=True)
class Refusal:
    """One reason to leave a node alone: what was seen, what would be wanted, what to do instead.

    ``overrule`` is what the setting ``overrule`` has to name to continue anyway; a refusal without
    it protects the host, and no setting lets it pass.
    """

    subject: str
    saw: str
    want: str
    instead: str = ""
    overrule: Overrule | None = None

    @override
    def __str__(self) -> str:
        more = f"; {self.instead}" if self.instead else ""
        way = f" (overrule = {self.overrule.value!r})" if self.overrule else ""
        return f"{self.subject}: saw {self.saw}, want {self.want}{more}{way}"


def not_overruled(found: Iterable[Refusal], overruled: Iterable[str]) -> tuple[Refusal, ...]:
    """Those that the operator has not overruled."""
    names = set(overruled)
    return tuple(one for one in found if one.overrule is None or one.overrule not in names)
