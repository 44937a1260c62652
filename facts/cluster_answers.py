"""What kubectl answered about a cluster, and what it comes to for one node.

The objects are those of kubernetes.io's API reference (core/v1, apps/v1) and NVIDIA/gpu-operator's
api/nvidia/v1/clusterpolicy_types.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyinfra_nvml.facts.api_objects import (
    CONFIG,
    NODES,
    OPERATOR,
    PLUGINS,
    PODS,
    POLICIES,
    api_json,
    items,
    part,
)
from pyinfra_nvml.facts.cluster import (
    ClusterNode,
    ClusterPolicy,
    KubeletConfig,
    Release,
)
from pyinfra_nvml.facts.json_values import mapping, text
from pyinfra_nvml.facts.machine import MachineState
from pyinfra_nvml.facts.plugin_settings import plugins
from pyinfra_nvml.facts.probe import Section, Sections, section
from pyinfra_nvml.facts.workload import Pod, environment, installed_release
from pyinfra_nvml.model.unknown import Unknown


@dataclass(frozen=True)
class Cluster:
    """The answers of one cluster.

    .. code:: python

        Cluster({"kubectl.nodes": Section("kubectl.nodes", 0, '{"items": [...]}'), ...})
    """

    answers: Sections

    def node(
        self, state: MachineState | Unknown, name: str, wish: str | None
    ) -> ClusterNode | Unknown:
        """The cluster's node that is this machine.

        ``wish`` is the name that the inventory gives, ``name`` the host's own in the inventory. A
        boot id is the machine's own: the same in both means the same machine.
        """
        try:
            return self._node(state, name, wish)
        # What an API server says must not end the run (facts/source.py).
        except Exception as fault:  # noqa: BLE001
            return Unknown(f"kubectl: its parser failed: {type(fault).__name__}: {fault}")

    def _node(
        self, state: MachineState | Unknown, name: str, wish: str | None
    ) -> ClusterNode | Unknown:
        nodes = self._nodes
        if isinstance(nodes, Unknown):
            return nodes
        boot = None if isinstance(state, Unknown) else state.boot_id
        found = _choose(nodes, boot if isinstance(boot, str) else None, name, wish)
        return found if isinstance(found, Unknown) else self._describe(found)

    def _describe(self, node: dict[str, object]) -> ClusterNode:
        name = text(part(node, "metadata", "name"))
        pods = self._pods.get(name, []) if isinstance(self._pods, dict) else self._pods
        return ClusterNode(
            name=name,
            kubelet=text(part(node, "status", "nodeInfo", "kubeletVersion")),
            runtime=text(part(node, "status", "nodeInfo", "containerRuntimeVersion")),
            gpus={
                key: str(value)
                for key, value in mapping(part(node, "status", "allocatable")).items()
                if key.startswith("nvidia.com/")
            },
            operator=_operator(self._operators),
            policy=_policy(self._policies),
            plugin=plugins(
                self._daemonsets,
                self._configs,
                pods,
                text(part(node, "metadata", "labels", "nvidia.com/device-plugin.config")),
            ),
            pods=pods
            if isinstance(pods, Unknown)
            else tuple(sorted({pod.name for pod in pods if pod.gpu})),
        )

    # Each answer is read once, however many nodes there are: a thousand are 20 MB of JSON.

    @cached_property
    def _nodes(self) -> list[dict[str, object]] | Unknown:
        return items(section(self.answers, NODES))

    @cached_property
    def _operators(self) -> list[dict[str, object]] | Unknown:
        return items(section(self.answers, OPERATOR))

    @cached_property
    def _policies(self) -> list[dict[str, object]] | Unknown:
        return items(section(self.answers, POLICIES))

    @cached_property
    def _daemonsets(self) -> list[dict[str, object]] | Unknown:
        return items(section(self.answers, PLUGINS))

    @cached_property
    def _pods(self) -> dict[str, list[Pod]] | Unknown:
        return _by_node(section(self.answers, PODS))

    @cached_property
    def _configs(self) -> dict[str, dict[str, object] | Unknown]:
        """The data of each ConfigMap that was asked for, by ``namespace/name``."""
        asked = {name: api_json(each) for name, each in self.answers.items() if CONFIG in name}
        return {
            name.removeprefix(CONFIG): read
            if isinstance(read, Unknown)
            else mapping(read.get("data"))
            for name, read in asked.items()
        }


def _choose(
    nodes: list[dict[str, object]], boot: str | None, name: str, wish: str | None
) -> dict[str, object] | Unknown:
    named = next((one for one in nodes if part(one, "metadata", "name") == (wish or name)), None)
    same = [node for node in nodes if boot and _boot(node) == boot]
    if named and (boot is None or _boot(named) == boot):
        return named
    if len(same) == 1 and not wish:
        return same[0]
    if named:
        return Unknown(
            f"node {wish or name} of this cluster has boot id {_boot(named) or 'none'}, this"
            f" machine {boot}: another one, or its kubelet has not reported since the boot"
        )
    if wish:
        return Unknown(f"saw no node {wish} among {len(nodes)} of this cluster")
    several = f"{len(same)} nodes have" if same else f"none of {len(nodes)} nodes has"
    return Unknown(f"{several} this machine's boot id; name the node: setting kubernetes_node")


def _boot(node: dict[str, object]) -> str:
    return text(part(node, "status", "nodeInfo", "bootID"))


def _by_node(answer: Section) -> dict[str, list[Pod]] | Unknown:
    """The pods by node, from the rows that fleet/kubectl.py's template makes of them."""
    if answer.trouble:
        return answer.trouble
    found: dict[str, list[Pod]] = {}
    for line in answer.out.splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            where, space, name, owner, limits = fields
            gpu = any(limit.startswith("nvidia.com/") for limit in limits.split())
            pod = Pod(f"{space}/{name}", f"{space}/{owner}", gpu)
            found.setdefault(where, []).append(pod)
    return found


def _operator(found: list[dict[str, object]] | Unknown) -> Release | Unknown | None:
    if isinstance(found, Unknown):
        return found
    for deployment in found:
        return installed_release(deployment)
    return None


def _policy(found: list[dict[str, object]] | Unknown) -> ClusterPolicy | Unknown | None:
    if isinstance(found, Unknown):
        return found
    for policy in found:
        cdi = mapping(part(policy, "spec", "cdi"))
        enabled, default = cdi.get("enabled"), cdi.get("default")
        return ClusterPolicy(
            name=text(part(policy, "metadata", "name")),
            cdi=enabled if isinstance(enabled, bool) else None,
            cdi_default=default if isinstance(default, bool) else None,
            environment=environment(part(policy, "spec", "devicePlugin", "env")),
        )
    return None


def kubelet_config(answer: Section) -> KubeletConfig | Unknown:
    """The settings in a kubelet's ``/configz`` (k8s.io, KubeletConfiguration v1beta1)."""
    read = api_json(answer)
    if isinstance(read, Unknown):
        return read
    said = mapping(read.get("kubeletconfig"))
    driver = text(said.get("cgroupDriver"))
    if not driver:
        return Unknown(f"{answer.name}: want a kubeletconfig, saw {answer.out[:40]!r}")
    return KubeletConfig(text(said.get("cpuManagerPolicy")) or "none", driver)
