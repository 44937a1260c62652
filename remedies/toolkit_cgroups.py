"""A container toolkit that opens devices again: ``no-cgroups = false`` in its config.toml."""

from __future__ import annotations

from pyinfra_nvml.combiners.no_cgroups import CURE, switched_off
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.context import Context

_CONFIG_COMMAND = (1, 14)
"""The first toolkit with ``nvidia-ctk config`` (its release notes)."""


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The command of this toolkit's version; nothing where no such setting is on the node."""
    config, toolkit = switched_off(context.node), context.node.container_toolkit
    if config is None or not isinstance(toolkit, ContainerToolkitState):
        return None
    version = () if isinstance(toolkit.version, Unknown) else release(toolkit.version or "") or ()
    if version >= _CONFIG_COMMAND:
        text = f"`{CURE}`"
    else:
        text = f"set no-cgroups = false below [nvidia-container-cli] in {config.path}"
    container = context.container(finding.target)
    again = f"`docker restart {container.name}`" if container else "restart the containers"
    return Remedy("toolkit-cgroups", Repair.MANUAL, f"{text}, then {again}")
