"""The nodes of a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyinfra.api.exceptions import InventoryError

from inventories.readers import nodes
from tests.installed import program


def test_nodes_of_a_cluster(cluster: Path) -> None:
    known = {"kubeconfig": str(cluster), "kubernetes_node": "gpu-01"}
    told = nodes.cluster_hosts(str(cluster), None, "gpu", "InternalIP")
    assert told == [("gpu-01", {"ssh_hostname": "10.0.0.7", **known})]
    told = nodes.cluster_hosts(str(cluster), "lab", "all", "name")
    assert [name for name, _ in told] == ["gpu-01", "cpu-01"]
    assert told[0][1] == {"ssh_hostname": "gpu-01", **known, "kubecontext": "lab"}
    with pytest.raises(
        InventoryError, match="node gpu-01: saw addresses InternalIP, Hostname, want"
    ):
        nodes.cluster_hosts(str(cluster), None, "gpu", "ExternalIP")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, "gpu", "name"), "saw no kubeconfig, want NVML_KUBECONFIG"),
        (("/nonexistent", None, "gpu", "name"), "kubeconfig /nonexistent: not there"),
        ((__file__, None, "some", "name"), "saw nodes 'some', want gpu or all"),
        ((__file__, None, "gpu", "IP"), "saw address 'IP', want InternalIP"),
        ((__file__, None, "gpu", "name"), "kubernetes: kubectl.nodes: exit 1"),
    ],
)
def test_a_cluster_that_gives_none(given: Any, message: str) -> None:
    if "exit" in message:
        program("kubectl")
    with pytest.raises(InventoryError, match=message):
        nodes.cluster_hosts(*given)


def test_a_cluster_without_gpus(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_has_gpu", lambda _: False)
    with pytest.raises(InventoryError, match="saw 2 nodes, none with a GPU"):
        nodes.cluster_hosts(str(cluster), None, "gpu", "name")
