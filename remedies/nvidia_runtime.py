"""Docker's runtime ``nvidia`` of toolkit 1.18 and newer: it edits the spec itself, as CDI does."""

from __future__ import annotations

from pyinfra_nvml.combiners.alternatives import on_docker_of_pods
from pyinfra_nvml.combiners.gpu_injection import runtime_is_cdi
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.cdi import keeps_rules
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The command; nothing where this runtime still calls the legacy hook."""
    toolkit, info = context.node.container_toolkit, context.node.engine_info
    if not isinstance(toolkit, ContainerToolkitState) or not isinstance(info, EngineInfo):
        return None
    if on_docker_of_pods(context.node) or not keeps_rules(context):
        return None
    if runtime_is_cdi(toolkit) is not True:
        return None
    text = "nvidia runtime: docker run --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all IMAGE"
    return Remedy("nvidia-runtime", Repair.MANUAL, text)
