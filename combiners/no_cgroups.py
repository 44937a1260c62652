"""A toolkit that opens no device: ``no-cgroups = true`` where containers have a filter."""

from __future__ import annotations

from pyinfra_nvml.combiners.gpu_injection import gpus_by_hook, runtime_is_cdi
from pyinfra_nvml.combiners.guest import guest, unfiltered
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.toolkit_config import ToolkitConfig
from pyinfra_nvml.model.unknown import Unknown

CURE = "nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=false"


def switched_off(node: NodeState) -> ToolkitConfig | None:
    """The settings that say ``no-cgroups = true`` on this node, whatever comes of it."""
    toolkit = node.container_toolkit
    config = toolkit.config if isinstance(toolkit, ContainerToolkitState) else None
    return config if isinstance(config, ToolkitConfig) and config.no_cgroups else None


def refuses(node: NodeState) -> bool | Unknown:
    """Whether containers started from now on are refused their GPU for it, on either driver."""
    toolkit = node.container_toolkit
    if not switched_off(node) or not isinstance(toolkit, ContainerToolkitState) or unfiltered(node):
        return False
    legacy = _legacy(node, toolkit)
    return _shut(node) if legacy is True and guest(node) == "lxc" else legacy


def _shut(node: NodeState) -> bool | Unknown:
    """Whether a container in this system container is refused its GPU, by the first that tells."""
    found = node.gpu_containers
    listed = () if isinstance(found, Unknown) else found.containers
    nodes = [one.nodes for one in listed if not isinstance(one.nodes, Unknown)]
    answers = [d.answer for devices in nodes for d in devices if not d.capability]
    told = [answer == "EPERM" for answer in answers if isinstance(answer, str)]
    return any(told) if told else Unknown(f"whether {guest(node)} keeps a device cgroup")


def _legacy(node: NodeState, toolkit: ContainerToolkitState) -> bool | Unknown:
    """Whether an engine that runs as root gives GPUs through the hook here."""
    kubelet, info = node.kubelet, node.engine_info
    if isinstance(info, Unknown):
        return info
    if info is not None and not info.rootless:
        return gpus_by_hook(toolkit, info)
    if kubelet is None or isinstance(kubelet, Unknown):
        return kubelet or False
    cdi = runtime_is_cdi(toolkit)
    return cdi if isinstance(cdi, Unknown) else not cdi
