"""A restart of one container of Docker: its device filter is written anew, with its GPUs.

For good where Docker is on cgroupfs by now, since the container was started before; with the driver
systemd, until the next trigger.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.exposure import denied_devices
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.cgroupfs import DEPLOY
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The command for this container; nothing for those of pods and of other engines."""
    container = context.container(finding.target)
    if container is None or container.engine != "docker" or container.pod:
        return None
    command = f"`docker restart {container.name}`"
    moved = context.live_driver == "cgroupfs" and container.scope is not None
    if moved:
        why = "the engine is on cgroupfs already, this container was started before"
        deploy = DEPLOY if context.to_cgroupfs.acts else ""
        return Remedy("restart-container", Repair.RESTART_CONTAINER, f"{command}: {why}", deploy)
    if not denied_devices(container):
        return None
    text = f"{command} gives it back until the next trigger"
    return Remedy("restart-container", Repair.RESTART_CONTAINER, text)
