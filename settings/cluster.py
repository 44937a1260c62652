"""The settings of a Kubernetes cluster: the way into it, and the name of a host's node there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from pyinfra_nvml.settings.declaration import Declared
from pyinfra_nvml.settings.field_types import FileHere, OptionalName


@dataclass(frozen=True)
class Access:
    """The way into a cluster: a kubeconfig on this machine, and one of its contexts.

    ``context`` ``None`` is the kubeconfig's own current one.

    .. code:: python

        Access(Path("/home/me/.kube/gpu-cluster"), "admin@gpu-cluster")
    """

    kubeconfig: Path
    context: str | None = None


class ClusterSettings(Declared):
    """The cluster that a host is a node of."""

    kubeconfig: FileHere = Field(
        default=None,
        description="The kubeconfig on this machine: its Kubernetes cluster is asked too, with "
        "kubectl, once for all of its nodes. None: no cluster is asked. A kubeconfig that is not "
        "named here is never used.",
    )
    kubecontext: OptionalName = Field(
        default=None,
        description="The context in that kubeconfig. None: the kubeconfig's own current context.",
    )
    kubernetes_node: OptionalName = Field(
        default=None,
        description="The name of this host's node in the cluster. None: the node that has this "
        "machine's boot id.",
    )

    @property
    def access(self) -> Access | None:
        """The way into the host's cluster, where the inventory gives one."""
        return Access(self.kubeconfig, self.kubecontext) if self.kubeconfig else None
