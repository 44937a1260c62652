"""What kubectl answered about a cluster, and what it comes to for one node.

The objects are those of kubernetes.io's API reference (core/v1, apps/v1) and NVIDIA/gpu-operator's
api/nvidia/v1/clusterpolicy_types.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from facts.cluster import ClusterNode, KubeletConfig, Policy, Release
from facts.json_values import mapping, mappings, text
from facts.machine import MachineState
from facts.plugin_settings import plugins
from facts.probe import Section, Sections, section
from facts.unknown import Unknown
from facts.workload import Pod, environment, installed

NODES, PODS = "kubectl.nodes", "kubectl.pods"
POLICIES, OPERATOR = "kubectl.clusterpolicies", "kubectl.operator"
PLUGINS, CONFIG = "kubectl.daemonsets", "kubectl.configmap "

_ABSENT = re.compile(r"doesn't have a resource type|could not find the requested resource")


def items(answer: Section) -> list[dict[str, object]] | Unknown:
    """The objects of a list; none where the API server does not know ClusterPolicies."""
    if answer.name == POLICIES and answer.rc == 1 and _ABSENT.search(answer.err):
        return []
    read = _json(answer)
    if isinstance(read, Unknown):
        return read
    listed = read.get("items")
    if not isinstance(listed, list):
        return Unknown(f"{answer.name}: want a list, saw {answer.out[:40]!r}")
    return mappings(listed)


def _json(answer: Section) -> dict[str, object] | Unknown:
    if answer.trouble:
        return answer.trouble
    try:
        return mapping(json.loads(answer.out))
    except (ValueError, RecursionError):
        return Unknown(f"{answer.name}: want JSON, saw {answer.out[:40]!r}")


def part(value: object, *path: str) -> object:
    """What stands at this path of an object, ``None`` where there is no such path."""
    for name in path:
        value = mapping(value).get(name)
    return value


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
        nodes = items(section(self.answers, NODES))
        if isinstance(nodes, Unknown):
            return nodes
        boot = None if isinstance(state, Unknown) else state.boot_id
        found = _choose(nodes, boot if isinstance(boot, str) else None, name, wish)
        return found if isinstance(found, Unknown) else self._describe(found)

    def _describe(self, node: dict[str, object]) -> ClusterNode:
        name = text(part(node, "metadata", "name"))
        pods = list(_pods(section(self.answers, PODS), name))
        unread = section(self.answers, PODS).trouble
        return ClusterNode(
            name=name,
            kubelet=text(part(node, "status", "nodeInfo", "kubeletVersion")),
            runtime=text(part(node, "status", "nodeInfo", "containerRuntimeVersion")),
            gpus={
                key: str(value)
                for key, value in mapping(part(node, "status", "allocatable")).items()
                if key.startswith("nvidia.com/")
            },
            operator=_operator(items(section(self.answers, OPERATOR))),
            policy=_policy(items(section(self.answers, POLICIES))),
            plugin=plugins(
                items(section(self.answers, PLUGINS)),
                dict(self._configs()),
                unread or pods,
                text(part(node, "metadata", "labels", "nvidia.com/device-plugin.config")),
            ),
            pods=unread or tuple(sorted({pod.name for pod in pods if pod.gpu})),
        )

    def _configs(self) -> Iterator[tuple[str, dict[str, object] | Unknown]]:
        """The data of each ConfigMap that was asked for, by ``namespace/name``."""
        for name, answer in self.answers.items():
            if name.startswith(CONFIG):
                read = _json(answer)
                known = read if isinstance(read, Unknown) else mapping(read.get("data"))
                yield name.removeprefix(CONFIG), known


def _choose(
    nodes: list[dict[str, object]], boot: str | None, name: str, wish: str | None
) -> dict[str, object] | Unknown:
    named = [node for node in nodes if part(node, "metadata", "name") == (wish or name)]
    same = [node for node in nodes if boot and _boot(node) == boot]
    if named and boot and _boot(named[0]) != boot:
        said = _boot(named[0]) or "none"
        return Unknown(
            f"node {wish or name} of this cluster has boot id {said}, this machine {boot}: another"
            " machine, or its kubelet has not reported since the boot"
        )
    if named:
        return named[0]
    if wish:
        return Unknown(f"saw no node {wish} among {len(nodes)} of this cluster")
    if len(same) == 1:
        return same[0]
    several = f"{len(same)} nodes have" if same else f"none of {len(nodes)} nodes has"
    return Unknown(f"{several} this machine's boot id; name the node: knob kubernetes_node")


def _boot(node: dict[str, object]) -> str:
    return text(part(node, "status", "nodeInfo", "bootID"))


def _pods(answer: Section, node: str) -> Iterator[Pod]:
    """The rows that audit/kubectl.py's template makes of every pod on this node."""
    for line in answer.out.splitlines():
        where, _, rest = line.partition("\t")
        fields = rest.split("\t")
        if where == node and len(fields) == 4:
            space, name, owner, limits = fields
            gpu = any(limit.startswith("nvidia.com/") for limit in limits.split())
            yield Pod(f"{space}/{name}", f"{space}/{owner}", gpu)


def _operator(found: list[dict[str, object]] | Unknown) -> Release | Unknown | None:
    if isinstance(found, Unknown):
        return found
    for deployment in found:
        return installed(deployment)
    return None


def _policy(found: list[dict[str, object]] | Unknown) -> Policy | Unknown | None:
    if isinstance(found, Unknown):
        return found
    for policy in found:
        cdi = mapping(part(policy, "spec", "cdi"))
        enabled, default = cdi.get("enabled"), cdi.get("default")
        return Policy(
            name=text(part(policy, "metadata", "name")),
            cdi=enabled if isinstance(enabled, bool) else None,
            cdi_default=default if isinstance(default, bool) else None,
            environment=environment(part(policy, "spec", "devicePlugin", "env")),
        )
    return None


def kubelet_config(answer: Section) -> KubeletConfig | Unknown:
    """The settings in a kubelet's ``/configz`` (k8s.io, KubeletConfiguration v1beta1)."""
    read = _json(answer)
    if isinstance(read, Unknown):
        return read
    said = mapping(read.get("kubeletconfig"))
    driver = text(said.get("cgroupDriver"))
    if not driver:
        return Unknown(f"{answer.name}: want a kubeletconfig, saw {answer.out[:40]!r}")
    return KubeletConfig(text(said.get("cpuManagerPolicy")) or "none", driver)
