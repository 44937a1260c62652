"""The cures besides cgroupfs that fit a node, each with its commands."""

from __future__ import annotations

from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown

KUBERNETES = (
    "GPU Operator 22.9.2 or newer, the device plugin with PASS_DEVICE_SPECS (helm"
    " compatWithCPUManager=true), or CDI"
)


def on_docker_of_pods(node: NodeState) -> bool:
    """Whether pods run on this Docker, or may do: then its driver is not to be changed alone."""
    kubelet = node.kubelet
    if kubelet is None:
        return False
    return isinstance(kubelet, Unknown) or kubelet.on_docker is not False
