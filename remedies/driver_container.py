"""A driver container that loads its module again: module and library then come from one image.

For nodes of the GPU Operator. Stops the GPU pods of the node. Does not help containers whose image
brings a library of its own.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_state import contained
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """What the Operator is asked for; nothing on a node whose driver is its own."""
    driver = context.node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState) or not contained(driver):
        return None
    text = (
        "let the GPU Operator reload its module: drain the GPU pods of this node and restart its"
        " driver pod"
    )
    return Remedy("driver-container", Repair.MANUAL, text)
