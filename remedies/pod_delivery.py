"""GPUs that Kubernetes puts into the pods' specs: systemd knows of them, whatever the engine.

For pods, and for nodes whose pods run on this node's Docker: there both kubelet and Docker need one
cgroup driver, and a change of Docker's alone splits them.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.alternatives import KUBERNETES, on_docker_of_pods
from pyinfra_nvml.combiners.exposure import denied_devices
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """What its cluster has to give GPUs by; nothing on a node without pods of its own Docker."""
    container = context.container(finding.target)
    pod = container is not None and container.pod
    if not (pod or (container is None and on_docker_of_pods(context.node))):
        return None
    text = KUBERNETES
    if container is not None and denied_devices(container):
        text = f"have its owner recreate the pod; for good: {KUBERNETES}"
    return Remedy("pod-delivery", Repair.MANUAL, text)
