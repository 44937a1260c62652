"""What mends a finding on one node, what it costs, and what stands against it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pyinfra_nvml.model.refusal import Refusal


class Repair(str, Enum):
    """The closed list of what can be done, each with its cost."""

    NONE = "none"
    WRITE_CONFIG = "write config"
    RESTART_DOCKER = "restart docker"
    RESTART_CONTAINER = "restart container"
    REBOOT = "reboot"
    HOLD_PACKAGES = "hold packages"
    MANUAL = "human"

    @property
    def cost(self) -> str:
        """What stops when this repair is made."""
        return _COSTS[self]


_COSTS = {
    Repair.NONE: "nothing to do",
    Repair.WRITE_CONFIG: "nothing stops",
    Repair.RESTART_DOCKER: "every container stops, unless live-restore is on",
    Repair.RESTART_CONTAINER: "this container stops",
    Repair.REBOOT: "the node goes down",
    Repair.HOLD_PACKAGES: "nothing stops; updates of these packages wait",
    Repair.MANUAL: "told, never done",
}


@dataclass(frozen=True)
class Remedy:
    """One way to mend a finding, as it is for this node.

    ``id`` is the name of its module with dashes, ``text`` the exact commands, or the deploy that
    carries it out. ``against`` is everything for which that deploy would refuse the node.

    .. code:: python

        Remedy("cgroupfs", Repair.RESTART_DOCKER, "deploys/fix_cgroup.py", deploy="fix_cgroup")
    """

    id: str
    repair: Repair
    text: str
    deploy: str = ""
    against: tuple[Refusal, ...] = ()
