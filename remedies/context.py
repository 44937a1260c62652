"""A node as remedies look at it: its facts, the owner's policy, and plans that several need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_plan import Plan, plan_engine
from pyinfra_nvml.settings.policy import Policy


@dataclass(frozen=True)
class Context:
    """One node, asked by every remedy of its findings; each plan is made once."""

    node: NodeState
    policy: Policy

    @cached_property
    def to_cgroupfs(self) -> Plan:
        """What would bring Docker to cgroupfs on this node, or every reason against it."""
        return plan_engine(self.node, "cgroupfs", overrule=self.policy.overrule)

    @property
    def live_driver(self) -> str:
        """The cgroup driver of the running Docker engine; empty where it did not say."""
        info = self.node.engine_info
        return "" if info is None or isinstance(info, Unknown) else info.cgroup_driver

    def container(self, id: str) -> GpuContainer | None:
        """The container of this id, where it was seen."""
        found = self.node.gpu_containers
        listed = () if isinstance(found, Unknown) else found.containers
        return next((one for one in listed if one.id == id), None)
