"""The nodes of a Kubernetes cluster that have a GPU, over SSH (docs/inventories.md).

    NVML_KUBECONFIG=~/.kube/gpu-cluster pyinfra inventories/kubernetes.py deploys/audit.py --dry

Or copy this file, and write the values in. Each host knows its cluster, so the audit asks it too.
"""

import os

from inventories.readers import nodes

_KUBECONFIG = os.environ.get("NVML_KUBECONFIG")
_CONTEXT = os.environ.get("NVML_KUBECONTEXT")
_NODES = os.environ.get("NVML_KUBE_NODES", "gpu")
_ADDRESS = os.environ.get("NVML_KUBE_ADDRESS", "InternalIP")

nodes_of_cluster = nodes.cluster_hosts(_KUBECONFIG, _CONTEXT, _NODES, _ADDRESS)
