"""The nodes of a Kubernetes cluster as hosts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pyinfra.api.exceptions import InventoryError

from pyinfra_nvml.facts.api_objects import NODES, items, part
from pyinfra_nvml.facts.json_values import mapping, mappings, text
from pyinfra_nvml.fleet.kubectl import QUERIES, run_kubectl
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.cluster import Access

ADDRESSES = ("InternalIP", "ExternalIP", "Hostname", "name")
"""What ssh goes to: kubernetes.io, Node, status.addresses; or the node's name as ssh knows it."""

Hosts = list[tuple[str, dict[str, object]]]


def cluster_hosts(kubeconfig: str | None, context: str | None, which: str, address: str) -> Hosts:
    """The nodes with a GPU (``which`` "gpu"), or all of them, with the way to their cluster.

    .. code:: python

        [("gpu-01", {"ssh_hostname": "10.0.0.7", "kubeconfig": "/home/me/.kube/gpu-cluster",
                     "kubecontext": None, "kubernetes_node": "gpu-01"})]
    """
    if not kubeconfig:
        raise InventoryError("kubernetes: saw no kubeconfig, want NVML_KUBECONFIG=FILE")
    if which not in ("gpu", "all"):
        raise InventoryError(f"kubernetes: saw nodes {which!r}, want gpu or all")
    if address not in ADDRESSES:
        raise InventoryError(f"kubernetes: saw address {address!r}, want {', '.join(ADDRESSES)}")
    path = Path(kubeconfig).expanduser().absolute()
    if not path.is_file():
        raise InventoryError(f"kubeconfig {path}: not there, want a file")
    found = _listed(Access(path, context))
    if isinstance(found, Unknown):
        raise InventoryError(f"kubernetes: {found.reason}, want the nodes of {path}")
    chosen = [node for node in found if which == "all" or _has_gpu(node)]
    if not chosen:
        raise InventoryError(
            f"kubernetes: saw {len(found)} nodes, none with a GPU; want some, or"
            " NVML_KUBE_NODES=all"
        )
    return [_host(node, path, context, address) for node in chosen]


@cache
def _listed(access: Access) -> list[dict[str, object]] | Unknown:
    """The nodes, asked once a process: a run reads its inventory more than once (config.py)."""
    return items(run_kubectl(access, {NODES: QUERIES[NODES]})[NODES])


def _has_gpu(node: dict[str, object]) -> bool:
    """By what the device plugin offers, or the label of NVIDIA's discovery where it is down."""
    offered = {
        name for kind in ("capacity", "allocatable") for name in mapping(part(node, "status", kind))
    }
    labels = mapping(part(node, "metadata", "labels"))
    present = labels.get("nvidia.com/gpu.present") == "true"
    return present or any(name.startswith("nvidia.com/") for name in offered)


def _host(
    node: dict[str, object], path: Path, context: str | None, address: str
) -> tuple[str, dict[str, object]]:
    name = text(part(node, "metadata", "name"))
    listed = mappings(part(node, "status", "addresses"))
    known = {text(one.get("type")): text(one.get("address")) for one in listed}
    where = name if address == "name" else known.get(address)
    if not where:
        raise InventoryError(
            f"node {name}: saw addresses {', '.join(known) or 'none'}, want"
            f" {address}; NVML_KUBE_ADDRESS names another kind"
        )
    data: dict[str, object] = {"kubeconfig": str(path), "kubernetes_node": name}
    if context:
        data["kubecontext"] = context
    return name, {"ssh_hostname": where, **data}
