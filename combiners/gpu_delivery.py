"""How Kubernetes gives GPUs to the pods of this node, as the node and its cluster say.

What runs on the node beats what the cluster means to run there; what the node does not tell, the
cluster may.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyinfra_nvml.combiners import device_links
from pyinfra_nvml.facts.cluster import (
    ClusterNode,
    ClusterPolicy,
    KubeletConfig,
    Plugin,
    Release,
)
from pyinfra_nvml.facts.gpu_operator import GpuOperatorState, Operand
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown


@dataclass(frozen=True)
class Delivery:
    """A device plugin that serves this node.

    ``told`` is whether its environment says ``passes``; a flag or its config file may too. An empty
    ``strategy`` is the plugin's default, envvar.

    .. code:: python

        Delivery(where="DaemonSet kube-system/nvdp", release=Release("nvdp", "kube-system",
                 "0.17.1"), operated=False, chart=True, passes=False, strategy=("envvar",))
    """

    where: str
    release: Release
    operated: bool
    chart: bool
    passes: bool | Unknown
    strategy: tuple[str, ...] | Unknown
    told: bool = True

    @property
    def covered(self) -> bool | Unknown:
        """Whether the pods' specs name the device nodes, whatever the runtime does.

        With cdi-cri the engine adds them by CDI; cdi-annotations beside another strategy may be
        read by no one (NVIDIA/gpu-operator before 25.10, cdi.default false).
        """
        if self.passes is True:
            return True
        if isinstance(self.strategy, Unknown):
            return self.strategy
        if self.strategy and all(way.startswith("cdi") for way in self.strategy):
            return True
        if "cdi-cri" in self.strategy:
            return True
        return self.passes


def cluster(node: NodeState) -> ClusterNode | None:
    """The cluster's view, where there is one."""
    return node.cluster if isinstance(node.cluster, ClusterNode) else None


def policy(node: NodeState) -> ClusterPolicy | None:
    """The ClusterPolicy, where it could be read."""
    seen = cluster(node)
    return seen.policy if seen and isinstance(seen.policy, ClusterPolicy) else None


def delivery(node: NodeState) -> Delivery | Unknown | None:
    """The device plugin of this node; ``None`` where it has none."""
    seen = cluster(node)
    meant = seen.plugin if seen else None
    own = _own(node.gpu_operator)
    if isinstance(own, Delivery):
        return _completed(own, meant)
    if isinstance(meant, Plugin):
        return _meant(meant)
    if seen and meant is None:
        return None
    unread = [part.reason for part in (own, meant) if isinstance(part, Unknown)]
    return Unknown("; ".join(unread)) if unread else None


def _own(traces: GpuOperatorState | Unknown | None) -> Delivery | Unknown | None:
    """The plugin that runs on the node."""
    operands = traces.operands if isinstance(traces, GpuOperatorState) else traces
    if operands is None or isinstance(operands, Unknown):
        return operands
    # Its image is that of gpu-feature-discovery, of the MPS daemon and of config-manager too.
    mine = [one for one in operands if one.image == "k8s-device-plugin" and _is_plugin(one)]
    if not mine:
        return None
    told = next((one for one in mine if one.variable("PASS_DEVICE_SPECS") is not None), mine[0])
    return _running(told, isinstance(traces, GpuOperatorState) and bool(traces.validations))


def _is_plugin(operand: Operand) -> bool:
    return "feature-discovery" not in operand.pod and "mps-control" not in operand.pod


def _running(operand: Operand, operator: bool) -> Delivery:
    passes = operand.variable("PASS_DEVICE_SPECS")
    strategy = operand.variable("DEVICE_LIST_STRATEGY")
    space, _, name = operand.pod.rpartition("/")
    unread = passes if isinstance(passes, Unknown) else None
    return Delivery(
        where=f"pod {operand.pod}",
        release=Release(None, space, operand.version),
        operated=operator and name.startswith("nvidia-device-plugin-daemonset"),
        chart=True,
        passes=unread or str(passes).lower() in ("true", "1", "t"),
        strategy=strategy
        if isinstance(strategy, Unknown)
        else tuple(strategy.split(",") if strategy else ()),
        told=passes is not None and unread is None,
    )


def _completed(own: Delivery, meant: Plugin | Unknown | None) -> Delivery:
    """What runs, with what only the cluster knows: who installed it, flags, its config file."""
    if not isinstance(meant, Plugin):
        return own
    known = _meant(meant)
    running = own.told or isinstance(meant.passes, Unknown)
    return Delivery(
        where=own.where,
        release=replace(known.release, version=own.release.version or known.release.version),
        operated=known.operated,
        chart=known.chart,
        passes=own.passes if running else known.passes,
        strategy=known.strategy
        if isinstance(own.strategy, Unknown)
        else own.strategy or known.strategy,
    )


def _meant(plugin: Plugin) -> Delivery:
    return Delivery(
        where=f"DaemonSet {plugin.name}",
        release=plugin.release,
        operated=plugin.operated,
        chart=plugin.release.name is not None,
        passes=plugin.passes,
        strategy=plugin.strategy,
    )


def _config(node: NodeState) -> KubeletConfig | None:
    seen = cluster(node)
    return seen.config if seen and isinstance(seen.config, KubeletConfig) else None


def cpu_policy(node: NodeState) -> str | Unknown | None:
    """The kubelet's CPU manager policy: what its node says, else what it told the API server."""
    kubelet = node.kubelet
    if kubelet is None or isinstance(kubelet, Unknown):
        said: str | Unknown | None = kubelet
    else:
        said = kubelet.cpu_policy
    config = _config(node)
    return config.cpu_policy if isinstance(said, Unknown) and config else said


def delivery_by_systemd(node: NodeState) -> bool | Unknown:
    """Whether systemd holds the pods: by their specs, kubelet's files, or its own word."""
    held, config = device_links.pods_by_systemd(node), _config(node)
    return config.cgroup_driver == "systemd" if isinstance(held, Unknown) and config else held
