"""The device plugin puts the device nodes into the pods' specs, or gives GPUs by CDI.

NVIDIA's device plugin passes device nodes only with PASS_DEVICE_SPECS (`compatWithCPUManager=true`
of its chart; the GPU Operator sets it by itself), or by CDI. Otherwise the legacy hook adds them
behind systemd, and the next `systemctl daemon-reload` on the node takes them away. With kubelet's
static CPU policy no reload is needed: it rewrites the cgroups of running containers itself.

Bad:

    k8s-device-plugin 0.14.1   PASS_DEVICE_SPECS=false, legacy runtime

Good:

    k8s-device-plugin 0.17.1   PASS_DEVICE_SPECS=true
    k8s-device-plugin 0.18.0   DEVICE_LIST_STRATEGY=cdi-annotations,cdi-cri

Repair: by hand: set the value of the chart that installed it, with Helm, and recreate the GPU pods.
Never the Docker cure.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import gpu_delivery, helm
from pyinfra_nvml.combiners.gpu_delivery import Delivery
from pyinfra_nvml.combiners.gpu_injection import runtime_is_cdi
from pyinfra_nvml.facts.cluster import Release
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES


def check(node: NodeState) -> Iterator[Outcome]:
    """A device plugin that passes no device nodes, where that loses the GPU."""
    seen = gpu_delivery.delivery(node)
    if isinstance(node.cluster, Unknown):
        yield Undetermined("cluster", node.cluster.reason)
    if seen is None:
        yield NotApplicable("no device plugin of NVIDIA's on this node")
    elif isinstance(seen, Unknown) and node.kubelet is None:
        yield NotApplicable("no kubelet on this node")
    elif isinstance(seen, Unknown):
        yield Undetermined("device plugin", seen.reason)
    elif isinstance(seen.covered, Unknown):
        yield Undetermined("device plugin", seen.covered.reason)
    elif not seen.covered and not _by_cdi_default(node, seen):
        yield from _uncovered(node, seen)


def _by_cdi_default(node: NodeState, seen: Delivery) -> bool:
    """Whether the Operator made CDI the runtime's default, which reads the annotations."""
    policy = gpu_delivery.policy(node)
    annotated = not isinstance(seen.strategy, Unknown) and "cdi-annotations" in seen.strategy
    return bool(annotated and policy and policy.cdi and policy.cdi_default)


def _uncovered(node: NodeState, seen: Delivery) -> Iterator[Outcome]:
    held, policy = gpu_delivery.delivery_by_systemd(node), gpu_delivery.cpu_policy(node)
    toolkit = node.container_toolkit
    cdi = toolkit if toolkit is None or isinstance(toolkit, Unknown) else runtime_is_cdi(toolkit)
    if cdi is True or (held is False and not isinstance(policy, Unknown) and policy != "static"):
        return
    if policy != "static" and isinstance(held, Unknown):
        yield Undetermined("cgroup driver of the pods", held.reason)
    elif held is False and isinstance(policy, Unknown):
        yield Undetermined("CPU manager policy", policy.reason)
    elif cdi is None or isinstance(cdi, Unknown):
        yield Undetermined("container toolkit", cdi.reason if cdi else "not on this node")
    else:
        yield _finding(node, seen, policy == "static")


def _finding(node: NodeState, seen: Delivery, static: bool) -> Finding:
    strategy = "" if isinstance(seen.strategy, Unknown) else ",".join(seen.strategy) or "envvar"
    why = "pods get their GPUs behind systemd, which takes them at a daemon-reload"
    if static:
        why = (
            "kubelet (cpuManagerPolicy static) rewrites the cgroups of running containers, and the"
            " device filter is rewritten without the GPU"
        )
    return Finding(
        level=Level.AT_RISK,
        subject="device plugin",
        saw=f"k8s-device-plugin {seen.release.version or ''}, PASS_DEVICE_SPECS not true,"
        f" DEVICE_LIST_STRATEGY {strategy}, the legacy runtime",
        want="PASS_DEVICE_SPECS true, or CDI",
        why=why,
        repair=Repair.MANUAL,
        do=f"{_cure(node, seen)}, then recreate the GPU pods{_pods(node)}",
        avoid="the Docker cure on this node; more capabilities in the pods",
        evidence=(seen.where,),
        reference="https://github.com/NVIDIA/k8s-device-plugin",
    )


def _cure(node: NodeState, seen: Delivery) -> str:
    view = gpu_delivery.cluster(node)
    if seen.operated:
        policy = gpu_delivery.policy(node)
        operator = view.operator if view else None
        known = operator if isinstance(operator, Release) else None
        if known and known.name is None:
            name = policy.name if policy else "cluster-policy"
            return (
                f'set PASS_DEVICE_SPECS to "true" in spec.devicePlugin.env of ClusterPolicy {name}'
            )
        release = known or Release(None, seen.release.namespace, None)
        return f"`{helm.operator_passes(release, policy)}`"
    if not seen.chart:
        version = f"v{seen.release.version}" if seen.release.version else "its version"
        return (
            f"put deployments/static/nvidia-device-plugin-compat-with-cpumanager.yml of {version}"
            f" in the place of {seen.where}"
        )
    return f"`{helm.plugin_passes(seen.release)}`"


def _pods(node: NodeState) -> str:
    view = gpu_delivery.cluster(node)
    named = view.pods if view and not isinstance(view.pods, Unknown) else ()
    more = f" and {len(named) - 5} more" if len(named) > 5 else ""
    return f": {', '.join(named[:5])}{more}" if named else ""
