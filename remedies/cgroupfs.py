"""Docker with the cgroup driver cgroupfs: systemd then holds no container, and takes no device.

Repairs every container that Docker starts with the legacy hook. Restarts Docker, so every container
stops, unless live-restore is on. Does not help pods, containers of other engines, or a toolkit that
opens no device; `docker update` of a container may still take its GPU.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.exposure import denied_devices
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context

DEPLOY = "fix_cgroup"


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The deploy that carries it out; nothing where Docker is on cgroupfs, or it cures nothing."""
    made = context.to_cgroupfs
    if made.idle or not (made.refusals or made.write or made.restart):
        return None
    container = context.container(finding.target)
    if container and (container.engine != "docker" or container.pod):
        return None
    text = f"deploys/{DEPLOY}.py"
    if container and denied_devices(container):
        text = (
            f"`docker restart {container.name}` gives it back until the next trigger;"
            f" for good: {text}"
        )
    return Remedy("cgroupfs", Repair.RESTART_DOCKER, text, DEPLOY, made.refusals)
