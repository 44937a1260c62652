"""The kubelet of this node, and whether its pods run on Docker."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.daemons import Daemon, Daemons, DaemonsState
from pyinfra_nvml.facts.kubelet_settings import COMMAND, KubeletSettings
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    file_texts,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

KUBELETS = ("kubelet", "kubelite", "k3s", "k3s-server", "k3s-agent", "rke2")
"""Processes that are a kubelet or carry one: upstream, MicroK8s, K3s, RKE2."""

_DOCKERSHIM_GONE = (1, 24)
"""The first Kubernetes whose kubelet has no way into Docker of its own."""


@dataclass(frozen=True)
class KubeletState(Value):
    """The kubelet.

    ``processes`` are those that are or carry a kubelet, empty where it is set up but not running.
    ``endpoint``, ``cgroup_driver`` and ``cpu_policy`` are what flags and files set, ``None`` where
    they set nothing. ``on_docker`` is whether its pods run on this node's Docker.

    .. code:: python

        KubeletState(processes=(Daemon(901, "kubelet", ...),), version="1.29.4",
                     endpoint="unix:///run/containerd/containerd.sock", cgroup_driver="systemd",
                     cpu_policy="static", fail_cgroup_v1=None, on_docker=False)
    """

    processes: tuple[Daemon, ...]
    version: str | Unknown | None
    endpoint: str | Unknown | None
    cgroup_driver: str | Unknown | None
    cpu_policy: str | Unknown | None
    fail_cgroup_v1: bool | Unknown | None
    on_docker: bool | Unknown


class Kubelet(Source[KubeletState | None]):
    """The kubelet, or ``None`` where none runs and none is set up.

    Sources: /proc, the kubelet's configuration (kubernetes.io, KubeletConfiguration v1beta1) and
    its flags, ``kubelet --version``. Needs no root unless /var/lib/kubelet is kept from users.
    """

    probes = (
        Probe("kubelet.settings", COMMAND),
        Probe("kubelet.version", "kubelet --version"),
        *Daemons.probes,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> KubeletState | Unknown | None:
        daemons = Daemons.judged(sections)
        if isinstance(daemons, Unknown):
            return daemons
        processes = daemons.named(*KUBELETS)
        said = KubeletSettings(processes, file_texts(section(sections, "kubelet.settings")))
        if not processes and not daemons.named("cri-dockerd") and not said.texts:
            return (
                Unknown("kubelet: /proc hides other users' processes") if daemons.hidden else None
            )
        version = _version(section(sections, "kubelet.version"))
        endpoint = said.value("container-runtime-endpoint", "containerRuntimeEndpoint")
        fail = said.value("fail-cgroupv1", "failCgroupV1")
        return KubeletState(
            processes=processes,
            version=version,
            endpoint=endpoint,
            cgroup_driver=said.value("cgroup-driver", "cgroupDriver"),
            cpu_policy=said.value("cpu-manager-policy", "cpuManagerPolicy"),
            fail_cgroup_v1=fail == "true" if isinstance(fail, str) else fail,
            on_docker=_on_docker(daemons, said, endpoint, version),
        )


def _version(answer: Section) -> str | Unknown | None:
    found = re.search(r"v(\d+\.\d+\.\d+\S*)", answer.out)
    if found:
        return found[1]
    return None if answer.rc == 127 else answer.trouble or Unknown("kubelet --version: no number")


def _on_docker(
    daemons: DaemonsState,
    said: KubeletSettings,
    endpoint: str | Unknown | None,
    version: str | Unknown | None,
) -> bool | Unknown:
    if isinstance(endpoint, str):
        own = [d.option("--container-runtime-endpoint") for d in daemons.named("cri-dockerd")]
        return bool(re.search(r"dockershim|cri-?docker", endpoint)) or endpoint in own
    flags = [argument for process in said.processes for argument in process.arguments]
    if "--docker" in flags or re.search(
        r"^\s*docker\s*:\s*true|(^|\s|')--docker\b(?!-)", said.text, re.MULTILINE
    ):
        return True
    carriers = {process.name for process in said.processes}
    if carriers & {"kubelite", "rke2"} or _bundled_containerd(daemons):
        return False
    if isinstance(endpoint, Unknown):
        return endpoint
    if carriers & {"k3s", "k3s-server", "k3s-agent"}:
        return Unknown("k3s: saw neither its own containerd nor a docker setting")
    return _by_version(said, version)


def _bundled_containerd(daemons: DaemonsState) -> bool:
    """Whether K3s' or RKE2's own containerd runs: it starts with a file under /var/lib/rancher."""
    return any(
        "/rancher/" in argument
        for daemon in daemons.named("containerd")
        for argument in daemon.arguments
    )


def _by_version(said: KubeletSettings, version: str | Unknown | None) -> bool | Unknown:
    runtime = said.value("container-runtime", "containerRuntime")
    if runtime == "docker":
        return True
    if not isinstance(version, str):
        return version or Unknown("kubelet: saw neither an endpoint nor a version")
    major, minor = (int(part) for part in re.findall(r"\d{1,9}", version)[:2])
    if (major, minor) >= _DOCKERSHIM_GONE:
        return False
    return Unknown("kubelet: a remote runtime, but no endpoint") if runtime == "remote" else True
