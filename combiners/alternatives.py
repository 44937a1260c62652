"""The cures besides cgroupfs that fit a node, each with its commands."""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown

KUBERNETES = (
    "GPU Operator 22.9.2 or newer, the device plugin with PASS_DEVICE_SPECS (helm"
    " compatWithCPUManager=true), or CDI"
)

_CDI = (25, 0)
"""The first Docker that knows CDI devices; a feature to switch on until 28.2 (moby, daemon.go)."""

_CDI_BY_DEFAULT = (28, 2)
_JIT_CDI = (1, 18)
"""The first toolkit whose ``nvidia`` runtime edits the spec itself (its release notes)."""

_DROPS_RULES = (1, 1, 3)
_NO_LINKS_NEEDED = (1, 1, 7)
"""runc from the one to below the other drops the rule of a node without a /dev/char link, with the
systemd driver, CDI's too (its changelog)."""


def on_docker_of_pods(node: NodeState) -> bool:
    """Whether pods run on this Docker, or may do: then its driver is not to be changed alone."""
    kubelet = node.kubelet
    if kubelet is None:
        return False
    return isinstance(kubelet, Unknown) or kubelet.on_docker is not False


def alternatives(node: NodeState, info: EngineInfo) -> Iterator[str]:
    """Ways that keep the driver systemd: systemd is told of the devices; one line each."""
    toolkit = (
        node.container_toolkit
        if isinstance(node.container_toolkit, ContainerToolkitState)
        else None
    )
    engine = release(info.server_version) or ()
    if (
        toolkit
        and isinstance(toolkit.version, str)
        and (release(toolkit.version) or ()) >= _JIT_CDI
    ):
        yield "nvidia runtime: docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all IMAGE"
    runc = release(info.runc) or ()
    drops = _DROPS_RULES <= runc < _NO_LINKS_NEEDED
    if toolkit and toolkit.has("nvidia-ctk") is True and engine >= _CDI and not drops:
        feature = "" if engine >= _CDI_BY_DEFAULT else ' with "features": {"cdi": true}'
        yield (
            "CDI: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; docker run --device"
            f" nvidia.com/gpu=all IMAGE{feature}"
        )
    if runc >= _NO_LINKS_NEEDED:
        yield (
            "explicit devices: docker run --gpus all --device /dev/nvidiactl --device /dev/nvidia0"
            " --device /dev/nvidia-uvm IMAGE"
        )
