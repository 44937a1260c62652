"""The way into a Kubernetes cluster that an inventory gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Access:
    """The way into a cluster: a kubeconfig on this machine, and one of its contexts.

    ``context`` ``None`` is the kubeconfig's own current one.

    .. code:: python

        Access(Path("/home/me/.kube/gpu-cluster"), "admin@gpu-cluster")
    """

    kubeconfig: Path
    context: str | None = None
