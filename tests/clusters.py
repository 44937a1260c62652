"""Recorded clusters: the objects an API server would give, and what kubectl makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from pyinfra_nvml.facts.api_objects import (
    CONFIG,
    NODES,
    OPERATOR,
    PLUGINS,
    PODS,
    POLICIES,
)
from pyinfra_nvml.facts.cluster import ClusterNode, KubeletConfig
from pyinfra_nvml.facts.cluster_answers import Cluster
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.probe import Section, Sections
from pyinfra_nvml.model.unknown import Unknown

CLUSTERS = Path(__file__).parent / "clusters"

LISTS = {
    NODES: "nodes",
    POLICIES: "clusterpolicies",
    OPERATOR: "deployments",
    PLUGINS: "daemonsets",
}


def objects(name: str) -> dict[str, Any]:
    """A cluster's objects by kind; ``None`` is a kind that its API server does not have."""
    said: dict[str, Any] = yaml.safe_load((CLUSTERS / f"{name}.yaml").read_text())
    base = objects(said.pop("like")) if "like" in said else {}
    return {**base, **said}


def answers(name: str, changed: dict[str, dict[str, Any]] | None = None) -> Sections:
    """What kubectl answers about this cluster, with some answers replaced."""
    said = objects(name)
    found = {answer: _list(answer, said[kind]) for answer, kind in LISTS.items()}
    found[PODS] = Section(PODS, 0, "".join(_rows(said["pods"])))
    for one in said.get("configmaps") or ():
        meta = one["metadata"]
        key = f"{CONFIG}{meta['namespace']}/{meta['name']}"
        found[key] = Section(key, 0, json.dumps(one))
    for answer, change in (changed or {}).items():
        if not any(answer.startswith(known) for known in (*LISTS, PODS, CONFIG)):
            raise KeyError(f"case: saw an answer for {answer!r}, want one of kubectl's")
        found[answer] = Section(
            answer, change.get("rc", 0), change.get("out", ""), change.get("err", "")
        )
    return found


def node(case: dict[str, Any], state: NodeState) -> ClusterNode | Unknown:
    """The cluster's view that a case asks for: which cluster, what differs, which node."""
    cluster = Cluster(answers(case["name"], case.get("answers")))
    found = cluster.node(state.machine, case.get("host", "gpu-01"), case.get("node"))
    if isinstance(found, Unknown) or "kubelet" not in case:
        return found
    config = KubeletConfig(**case["kubelet"])
    return ClusterNode(**{**found.__dict__, "config": config})


def _list(answer: str, listed: list[Any] | None) -> Section:
    if listed is None:
        kind = LISTS[answer]
        err = f'error: the server doesn\'t have a resource type "{kind}"\n'
        return Section(answer, 1, err=err)
    return Section(answer, 0, json.dumps({"kind": "List", "items": listed}))


def _rows(pods: list[dict[str, Any]]) -> Iterator[str]:
    for pod in pods:
        meta, spec = pod["metadata"], pod["spec"]
        owner = "".join(one["name"] for one in meta.get("ownerReferences", ()))
        limits = "".join(
            f"{limit} "
            for container in spec["containers"]
            for limit in sorted(container.get("resources", {}).get("limits", {}))
        )
        fields = (spec["nodeName"], meta["namespace"], meta["name"], owner, limits)
        yield "\t".join(fields) + "\n"
