"""GPUs by CDI: systemd knows the devices of such containers, on either cgroup driver.

For new containers of Docker 25 and newer with a container toolkit that has nvidia-ctk. Does not
help where runc or systemd drop the rule of a device that /dev/char does not name (dev-char-links).
"""

from __future__ import annotations

from pyinfra_nvml.combiners import device_links
from pyinfra_nvml.combiners.alternatives import on_docker_of_pods
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.context import Context

_CDI = (25, 0)
"""The first Docker that knows CDI devices; a feature to switch on until 28.2 (moby, daemon.go)."""

_CDI_BY_DEFAULT = (28, 2)

_CDI_COMMAND = (1, 12)
"""The first toolkit with ``nvidia-ctk cdi generate`` (its release notes)."""


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The commands for this engine's version; nothing where systemd would get no rule."""
    node = context.node
    info, toolkit = node.engine_info, node.container_toolkit
    if not isinstance(info, EngineInfo) or not isinstance(toolkit, ContainerToolkitState):
        return None
    engine = release(info.server_version) or ()
    container = context.container(finding.target)
    if on_docker_of_pods(node) or (container and container.engine != "docker"):
        return None
    version = toolkit.version if isinstance(toolkit.version, str) else ""
    if (release(version) or ()) < _CDI_COMMAND:
        return None
    if engine < _CDI or toolkit.has("nvidia-ctk") is not True or not keeps_rules(context):
        return None
    feature = "" if engine >= _CDI_BY_DEFAULT else ' with "features": {"cdi": true}'
    image = "IMAGE" if container is None else f"IMAGE, for {container.name}"
    text = (
        "CDI: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; docker run --device"
        f" nvidia.com/gpu=all {image}{feature}"
    )
    return Remedy("cdi", Repair.MANUAL, text)


def keeps_rules(context: Context) -> bool:
    """Whether systemd gets a rule for every device of a container that asks for it by name."""
    node = context.node
    if device_links.there(node) is True:
        return True
    systemd = node.systemd_manager
    if isinstance(systemd, Unknown) or (systemd and isinstance(systemd.number, Unknown)):
        return False
    # systemd before 240 drops the rule of a path that is not there, whatever runc asks for.
    number = systemd.number if systemd else device_links.SYSTEMD
    old = isinstance(number, int) and number < device_links.SYSTEMD
    return not old and device_links.wanted(node) is False
