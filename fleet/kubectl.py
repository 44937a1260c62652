"""Asks a Kubernetes cluster with kubectl on this machine, and only reads."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pyinfra_nvml.combiners.gpu_delivery import cpu_policy
from pyinfra_nvml.facts.api_objects import (
    CONFIG,
    NODES,
    OPERATOR,
    PLUGINS,
    PODS,
    POLICIES,
    items,
)
from pyinfra_nvml.facts.cluster import KubeletConfig
from pyinfra_nvml.facts.cluster_answers import Cluster, kubelet_config
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.plugin_settings import config_map
from pyinfra_nvml.facts.probe import Section, Sections
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.cluster import Access

LIMIT = 60
"""Seconds for all that a cluster is asked; the request's own limit does not cover a login helper
(kubectl, "exec" in a kubeconfig)."""

_CONFIGZ = "kubectl.configz"

# One row a pod, instead of a megabyte of JSON for every hundred of them.
_ROW = (
    '{{range .items}}{{.spec.nodeName}}{{"\\t"}}{{.metadata.namespace}}{{"\\t"}}{{.metadata.name}}'
    '{{"\\t"}}{{range .metadata.ownerReferences}}{{.name}}{{end}}{{"\\t"}}'
    "{{range .spec.containers}}{{range $limit, $_ := .resources.limits}}{{$limit}} {{end}}{{end}}"
    '{{"\\n"}}{{end}}'
)

QUERIES: dict[str, tuple[str, ...]] = {
    NODES: ("get", "nodes", "-o", "json"),
    PODS: (
        "get",
        "pods",
        "-A",
        "--field-selector=status.phase!=Succeeded,status.phase!=Failed",
        "-o",
        f"go-template={_ROW}",
    ),
    POLICIES: ("get", "clusterpolicies.nvidia.com", "-o", "json"),
    # Helm's chart and OLM's bundle both call it so.
    OPERATOR: (
        "get",
        "deployments.apps",
        "-A",
        "--field-selector=metadata.name=gpu-operator",
        "-o",
        "json",
    ),
    PLUGINS: ("get", "daemonsets.apps", "-A", "-o", "json"),
}


@dataclass
class Clusters:
    """The clusters of a run; each is asked once, whatever the number of its nodes."""

    _read: dict[Access, Cluster | Unknown] = field(default_factory=dict)
    _closed: dict[Access, Unknown] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cluster(self, access: Access) -> Cluster | Unknown:
        """What this cluster says; hosts that come meanwhile wait for the first one's answer."""
        with self._lock:
            if access not in self._read:
                self._read[access] = read_cluster(access)
            return self._read[access]

    def with_cluster(
        self, access: Access, state: NodeState, name: str, wish: str | None
    ) -> NodeState:
        """The node's facts, with what its cluster says of it beside them.

        A machine without a kubelet is no node, unless the inventory says which.
        """
        if state.kubelet is None and wish is None:
            return state
        cluster = self.cluster(access)
        if isinstance(cluster, Unknown):
            return replace(state, cluster=cluster)
        found = cluster.node(state.machine, name, wish)
        if not isinstance(found, Unknown) and isinstance(cpu_policy(state), Unknown):
            found = replace(found, config=self.kubelet(access, found.name))
        return replace(state, cluster=found)

    def kubelet(self, access: Access, node: str) -> KubeletConfig | Unknown:
        """The settings of a node's kubelet; once forbidden, they are asked for no more."""
        if access in self._closed:
            return self._closed[access]
        path = f"/api/v1/nodes/{node}/proxy/configz"
        answer = run_kubectl(access, {_CONFIGZ: ("get", "--raw", path)})[_CONFIGZ]
        if "Forbidden" in answer.err or "forbidden" in answer.err:
            self._closed[access] = answer.trouble or Unknown(f"{_CONFIGZ}: {answer.said}")
        return kubelet_config(answer)


def read_cluster(access: Access) -> Cluster | Unknown:
    """Everything that checks ask of a cluster, or why it could not be asked."""
    try:
        with access.kubeconfig.open("rb"):
            pass
    except OSError as fault:
        return Unknown(f"kubeconfig {access.kubeconfig}: {fault.strerror}")
    answers = run_kubectl(access, QUERIES)
    answers.update(run_kubectl(access, _configs(answers)))
    return Cluster(answers)


def _configs(answers: Sections) -> dict[str, tuple[str, ...]]:
    """The queries for the ConfigMaps that device plugins read; by name: others are not ours."""
    daemonsets = items(answers[PLUGINS])
    found = [] if isinstance(daemonsets, Unknown) else [config_map(one) for one in daemonsets]
    named = {name: name.partition("/")[::2] for name in found if name}
    return {
        CONFIG + name: ("get", "configmap", config, "-n", space, "-o", "json")
        for name, (space, config) in named.items()
    }


def run_kubectl(
    access: Access, queries: Mapping[str, Sequence[str]], limit: float = LIMIT
) -> Sections:
    """The answers of queries that run side by side under one limit."""
    started = {name: _start(access, query, limit) for name, query in queries.items()}
    end = time.monotonic() + limit
    return {name: _answer(name, process, end) for name, process in started.items()}


def _start(access: Access, query: Sequence[str], limit: float) -> subprocess.Popen[bytes] | OSError:
    command = ["kubectl", f"--kubeconfig={access.kubeconfig}", f"--request-timeout={limit:.0f}s"]
    command += [f"--context={access.context}"] if access.context else []
    # A user's kuberc may change what a command means (kubernetes.io, "Kubectl user preferences").
    environment = {**os.environ, "KUBECTL_KUBERC": "false", "LC_ALL": "C"}
    environment.pop("KUBECONFIG", None)
    try:
        return subprocess.Popen(
            [*command, *query],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as fault:
        return fault


def _answer(name: str, process: subprocess.Popen[bytes] | OSError, end: float) -> Section:
    if isinstance(process, OSError):
        missing = isinstance(process, FileNotFoundError)
        return Section(name, 127 if missing else 126, err=str(process.strerror))
    try:
        out, err = process.communicate(timeout=max(0.1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        # Its login helper too, which would keep the pipe open.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=1)
        return Section(name, 124)
    return Section(
        name,
        process.returncode,
        out.decode("utf-8", "replace"),
        err.decode("utf-8", "replace"),
    )
