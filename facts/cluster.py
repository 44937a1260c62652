"""What a Kubernetes cluster says of one of its nodes: its Operator, its device plugin, its pods."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.model.unknown import Unknown, Value


@dataclass(frozen=True)
class Release(Value):
    """Who installed something: ``name`` of the Helm release, ``None`` where it is not Helm's.

    ``version`` is that of the image, ``chart`` that of Helm's chart.

    .. code:: python

        Release(name="nvdp", namespace="nvidia-device-plugin", version="0.17.1", chart="0.17.1")
    """

    name: str | None
    namespace: str
    version: str | None
    chart: str | None = None


@dataclass(frozen=True)
class ClusterPolicy(Value):
    """The GPU Operator's ClusterPolicy.

    ``cdi`` and ``cdi_default`` are ``spec.cdi.enabled`` and ``.default``; ``environment`` is
    ``spec.devicePlugin.env``, with the values of NVIDIA's own variables only.

    .. code:: python

        Policy(name="cluster-policy", cdi=True, cdi_default=False,
               environment=("PASS_DEVICE_SPECS=true",))
    """

    name: str
    cdi: bool | None
    cdi_default: bool | None
    environment: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plugin(Value):
    """The DaemonSet whose device plugin serves this node.

    ``operated`` is whether the GPU Operator owns it. ``passes`` and ``strategy`` are what its
    plugin does on this node: by flag, else environment, else its config for this node.

    .. code:: python

        Plugin(name="kube-system/nvdp-nvidia-device-plugin",
               release=Release("nvdp", "kube-system", "0.17.1"), operated=False, passes=False,
               strategy=("envvar",))
    """

    name: str
    release: Release
    operated: bool
    passes: bool | Unknown
    strategy: tuple[str, ...] | Unknown


@dataclass(frozen=True)
class KubeletConfig(Value):
    """What the running kubelet says of its own settings (its endpoint ``/configz``).

    .. code:: python

        KubeletConfig(cpu_policy="static", cgroup_driver="systemd")
    """

    cpu_policy: str
    cgroup_driver: str


@dataclass(frozen=True)
class ClusterNode(Value):
    """One node, as its cluster sees it; ``None`` where the cluster has no such thing.

    ``gpus`` is what the plugin offers there, ``pods`` are those that hold a GPU. ``config`` is
    asked for only where the node itself did not tell.

    .. code:: python

        ClusterNode(name="gpu-01", kubelet="v1.31.4", runtime="containerd://1.7.24",
                    gpus={"nvidia.com/gpu": "8"}, operator=Release(...), policy=Policy(...),
                    plugin=Plugin(...), pods=("team/train-0",))
    """

    name: str
    kubelet: str
    runtime: str
    gpus: dict[str, str]
    operator: Release | Unknown | None
    policy: ClusterPolicy | Unknown | None
    plugin: Plugin | Unknown | None
    pods: tuple[str, ...] | Unknown
    config: KubeletConfig | Unknown | None = None
