"""Kubelet and the engine of its pods agree on who manages their cgroups.

A kubelet on Docker (cri-dockerd, or the dockershim before 1.24) needs the same cgroup driver as
Docker: two managers on one hierarchy lose track of limits and devices, and no message says so. With
the static CPU manager policy kubelet also rewrites the cgroups of running containers every few
seconds: a GPU that came by the legacy hook is gone with the first rewrite, whatever the driver.

Bad:

    kubelet cgroupDriver: systemd   docker Cgroup Driver: cgroupfs
    kubelet cpuManagerPolicy: static   pod train-0 by the legacy hook

Good:

    kubelet cgroupDriver: systemd   docker Cgroup Driver: systemd
    kubelet cpuManagerPolicy: static   pod train-0 with device nodes in its spec

Repair: by hand: drain the node and set both alike. For GPUs under the static policy let the device
plugin pass device specs (helm `compatWithCPUManager=true`), or use CDI.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.gpu_delivery import cpu_policy
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.docker_inspect import DockerInspectState
from pyinfra_nvml.facts.kubelet import KubeletState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.oci_container import Injection, OciContainer
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP

_SAFE = {Injection.CDI, Injection.DEVICES, Injection.PRIVILEGED}


def check(node: NodeState) -> Iterator[Outcome]:
    """Two drivers under one kubelet, and the static CPU policy over legacy injection."""
    kubelet = node.kubelet
    if kubelet is None:
        yield NotApplicable("no kubelet on this node")
    elif isinstance(kubelet, Unknown):
        yield Undetermined("kubelet", kubelet.reason)
    else:
        yield from _drivers(node, kubelet)
        yield from _static(node)


def _drivers(node: NodeState, kubelet: KubeletState) -> Iterator[Outcome]:
    if kubelet.on_docker is False:
        return
    if isinstance(kubelet.on_docker, Unknown):
        if node.docker_engine is not None:
            yield Undetermined("kubelet", kubelet.on_docker.reason)
        return
    info = node.engine_info
    if info is None or isinstance(info, Unknown):
        yield Undetermined(
            "container engine", info.reason if info else "kubelet's Docker is not there"
        )
    elif isinstance(kubelet.cgroup_driver, Unknown):
        yield Undetermined("kubelet", kubelet.cgroup_driver.reason)
    elif kubelet.cgroup_driver is None:
        if info.cgroup_driver != "cgroupfs":
            reason = "no cgroupDriver in its flags and files; its default depends on its version"
            yield Undetermined("kubelet", reason)
    elif kubelet.cgroup_driver != info.cgroup_driver:
        yield _apart(kubelet.cgroup_driver, info)


def _apart(driver: str, info: EngineInfo) -> Finding:
    place = "daemon.json" if driver == "systemd" else "KubeletConfiguration cgroupDriver"
    return Finding(
        level=Level.AT_RISK,
        subject="kubelet",
        saw=f"kubelet {driver}, docker {info.cgroup_driver}",
        want="one cgroup driver for both",
        why="two managers write one hierarchy; a kubelet that asks the runtime (CRI) may change its"
        " driver at its next start, and pods made before then fail to start again",
        repair=Repair.MANUAL,
        do=f"drain the node, set both to systemd ({place}), restart both",
        avoid="deploys/fix_cgroup.py: it refuses a node whose kubelet uses this Docker",
        reference="https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/configure-cgroup-driver/",
    )


def _static(node: NodeState) -> Iterator[Outcome]:
    policy = cpu_policy(node)
    if isinstance(policy, Unknown):
        if node.nvidia_driver is not None:
            yield Undetermined("kubelet", policy.reason)
    elif policy == "static" and node.nvidia_driver is not None:
        if isinstance(node.oci_specs, Unknown):
            yield Undetermined("GPU pods", node.oci_specs.reason)
            return
        names = {} if isinstance(node.docker_inspect, Unknown) else _names(node.docker_inspect)
        for one in node.oci_specs.containers:
            # Containers beside the pods (docker run on the same node) are not kubelet's to rewrite.
            legacy = Injection.LEGACY in one.injection and not _SAFE & set(one.injection)
            if legacy and "kubepods" in one.cgroups_path:
                yield _rewritten(one, names.get(one.id, ""))


def _names(running: DockerInspectState) -> dict[str, str]:
    """By their ids: the specs of Docker's pods tell no name (Kubernetes' words are labels)."""
    return {one.id: one.name for one in running.containers}


def _rewritten(one: OciContainer, name: str) -> Finding:
    return Finding(
        level=Level.AT_RISK,
        subject=f"container {one.name or name or one.id[:12]}"
        + (f" of pod {one.pod}" if one.pod else ""),
        saw="cpuManagerPolicy static, its GPU by the legacy hook alone",
        want="its device nodes in its spec, or CDI",
        why="kubelet rewrites the cgroups of running containers (CPU sets), and the device filter"
        " is rewritten without the GPU",
        repair=Repair.MANUAL,
        do="device plugin with PASS_DEVICE_SPECS (helm compatWithCPUManager=true), or CDI; then"
        " recreate the pod",
        avoid="another cgroup driver: the rewrite takes the GPU with both",
        evidence=(f"cgroup {one.cgroups_path}",),
        reference="https://github.com/NVIDIA/k8s-device-plugin",
    )
