"""A container of another engine (podman, containerd, CRI-O): started anew, with CDI devices."""

from __future__ import annotations

from pyinfra_nvml.combiners.exposure import denied_devices
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """What to do in that engine; nothing for containers of Docker and for pods."""
    container = context.container(finding.target)
    if container is None or container.engine == "docker" or container.pod:
        return None
    if denied_devices(container):
        text = f"have {container.engine} start it anew; for good, with CDI devices"
    else:
        text = f"start it with CDI devices; {container.engine} has its own settings"
    return Remedy("other-engine", Repair.MANUAL, text)
