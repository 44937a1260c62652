"""The container toolkit of a node as checks judge it."""

from __future__ import annotations

from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT
from pyinfra_nvml.model.finding import NotApplicable, Undetermined
from pyinfra_nvml.model.unknown import Unknown


def toolkit_to_judge(node: NodeState) -> ContainerToolkitState | Undetermined | NotApplicable:
    """The toolkit, or what a check has to say where there is none to judge."""
    toolkit = node.container_toolkit
    if toolkit is None:
        return NotApplicable("no container toolkit on this node")
    if node.nvidia_driver is None and node.wsl is None:
        return NotApplicable(ABSENT)
    return (
        Undetermined("container toolkit", toolkit.reason)
        if isinstance(toolkit, Unknown)
        else toolkit
    )
