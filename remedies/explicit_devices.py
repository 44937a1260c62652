"""Device nodes named one by one (``docker run --device``): systemd gets a rule for each."""

from __future__ import annotations

from pyinfra_nvml.combiners.alternatives import on_docker_of_pods
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.cdi import keeps_rules
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The command; nothing on WSL, whose one device is /dev/dxg, nor where a rule is dropped."""
    node = context.node
    if not isinstance(node.engine_info, EngineInfo) or isinstance(node.wsl, WslState):
        return None
    # --gpus is of Docker 19.03 (its release notes).
    if (release(node.engine_info.server_version) or ()) < (19, 3):
        return None
    if on_docker_of_pods(node) or not keeps_rules(context):
        return None
    text = (
        "explicit devices: docker run --gpus all --device /dev/nvidiactl --device /dev/nvidia0"
        " --device /dev/nvidia-uvm IMAGE"
    )
    return Remedy("explicit-devices", Repair.MANUAL, text)
