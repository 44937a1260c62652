"""The container toolkit of a node as checks judge it."""

from __future__ import annotations

from audit.finding import Doubt, NotApplicable
from facts.container_toolkit import ContainerToolkit
from facts.node import NodeState
from facts.nvidia_driver import ABSENT
from facts.unknown import Unknown


def judged_toolkit(node: NodeState) -> ContainerToolkit | Doubt | NotApplicable:
    """The toolkit, or what a check has to say where there is none to judge."""
    toolkit = node.toolkit
    if toolkit is None:
        return NotApplicable("no container toolkit on this node")
    if node.driver is None and node.wsl is None:
        return NotApplicable(ABSENT)
    return Doubt("container toolkit", toolkit.reason) if isinstance(toolkit, Unknown) else toolkit
