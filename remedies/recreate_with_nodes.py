"""A container made again, whose device nodes have numbers from before the module was loaded."""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """First the node's own device nodes and CDI specs, then the container."""
    container = context.container(finding.target)
    if container is None:
        return None
    host = on_host(context.node)
    text = (
        f"{host}nvidia-modprobe -c0 -u; where a CDI spec has the old number, nvidia-ctk cdi"
        f" generate again; then recreate {container.name}"
    )
    return Remedy("recreate-with-nodes", Repair.MANUAL, text)
