"""Kubelet and the containerd or cri-o of its pods agree on who manages their cgroups.

Each has a setting of its own: `cgroupDriver` in kubelet's, `SystemdCgroup` of every runtime handler
in containerd's config.toml, `cgroup_manager` in crio.conf. Where they differ, pods do not start, or
their limits and devices are kept where nobody looks. A handler `nvidia` that was added by hand
often lacks the line that `runc` has. From 1.31 on kubelet asks a runtime that can tell (containerd
2.0, cri-o 1.28) and follows it: then only the handlers can differ among themselves.

Bad:

    kubelet cgroupDriver: systemd   containerd, handler nvidia: SystemdCgroup = false

Good:

    kubelet cgroupDriver: systemd   containerd, handlers runc and nvidia: SystemdCgroup = true

Repair: by hand: drain the node, set both alike and restart both.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.containerd_config import Handler
from pyinfra_nvml.facts.kubelet import KubeletState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.pod_runtime import PodRuntimeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP

_ASKS = (1, 31)
"""The first kubelet that asks its runtime (KubeletCgroupDriverFromCRI, on by default)."""

_TELLS = {"containerd": (2, 0), "cri-o": (1, 28)}
"""The first of each that answers (kubernetes.io, Container Runtimes, cgroup drivers)."""

_BOTH_SET = {"k3s", "k3s-server", "k3s-agent", "rke2"}
"""They give their kubelet and their containerd the same driver (k3s, pkg/agent/config)."""


def check(node: NodeState) -> Iterator[Outcome]:
    """Two drivers under one kubelet, or under the handlers of one containerd."""
    kubelet, runtime = node.kubelet, node.pod_runtime
    if kubelet is None:
        yield NotApplicable("no kubelet on this node")
    elif isinstance(kubelet, Unknown):
        yield Undetermined("kubelet", kubelet.reason)
    elif runtime is None:
        yield NotApplicable("kubelet's pods run on Docker: see kubelet-driver")
    elif isinstance(runtime, Unknown):
        yield Undetermined("pods' runtime", runtime.reason)
    elif isinstance(runtime.handlers, Unknown):
        yield Undetermined(runtime.name, runtime.handlers.reason)
    else:
        yield from _judge(node, kubelet, runtime, runtime.handlers)


def _judge(
    node: NodeState, kubelet: KubeletState, runtime: PodRuntimeState, handlers: tuple[Handler, ...]
) -> Iterator[Outcome]:
    wanted = _kubelets_driver(node, kubelet, runtime, handlers)
    if isinstance(wanted, Unknown):
        yield Undetermined("kubelet", wanted.reason)
        return
    apart = [one for one in handlers if one.driver != wanted[0]]
    if apart:
        yield _finding(runtime, wanted, apart)


def _kubelets_driver(
    node: NodeState, kubelet: KubeletState, runtime: PodRuntimeState, handlers: tuple[Handler, ...]
) -> tuple[str, str] | Unknown:
    """The driver that kubelet works with, and where it has it from."""
    first = handlers[0]
    follows = _follows(node, kubelet, runtime)
    if follows is True or any(process.name in _BOTH_SET for process in kubelet.processes):
        return first.driver, f"as {runtime.name}'s {first.name} has it"
    if isinstance(kubelet.cgroup_driver, Unknown):
        return kubelet.cgroup_driver
    set_to = kubelet.cgroup_driver or "cgroupfs"  # kubernetes.io, KubeletConfiguration
    if all(one.driver == set_to for one in handlers):
        return set_to, "its cgroupDriver"
    if isinstance(follows, Unknown):
        return follows
    if kubelet.cgroup_driver is None:
        return Unknown("no cgroupDriver in its flags and files; its default depends on its version")
    return set_to, "its cgroupDriver"


def _follows(node: NodeState, kubelet: KubeletState, runtime: PodRuntimeState) -> bool | Unknown:
    """Whether this kubelet takes the driver from its runtime."""
    if isinstance(kubelet.version, Unknown):
        return kubelet.version
    if kubelet.version is None:
        return Unknown("kubelet: no version found, and from 1.31 on it follows its runtime")
    if (release(kubelet.version) or ()) < _ASKS:
        return False
    versions = node.runtime_versions
    if isinstance(versions, Unknown):
        return versions
    version = versions.containerd if runtime.name == "containerd" else versions.crio
    if not isinstance(version, str):
        return version or Unknown(f"{runtime.name}: no version found")
    return (release(version) or ()) >= _TELLS[runtime.name]


def _finding(runtime: PodRuntimeState, wanted: tuple[str, str], apart: list[Handler]) -> Finding:
    driver, source = wanted
    names = ", ".join(one.name for one in apart)
    started = runtime.name == "containerd" and driver == "systemd"
    key = "cgroup_manager" if runtime.name == "cri-o" else "SystemdCgroup"
    more = "its crio.conf.d" if runtime.name == "cri-o" else "what it imports"
    return Finding(
        level=Level.AT_RISK if started else Level.BROKEN,
        subject=runtime.name,
        saw=f"kubelet {driver} ({source}), {runtime.name} {apart[0].driver} for {names}",
        want="one cgroup driver for all",
        why="its pods' containers get cgroups outside systemd's slices: kubelet's limits do not"
        " reach them"
        if started
        else "the runtime does not take the cgroup that kubelet names: no pod starts with it",
        repair=Repair.MANUAL,
        do=f"drain the node, set {key} in {runtime.path} or {more} as kubelet has it,"
        f" restart {runtime.name} and kubelet",
        avoid="another driver for kubelet on a node with pods: they fail to start again",
        evidence=(f"{runtime.path}: {', '.join(f'{one.name} {one.driver}' for one in apart)}",),
        reference="https://kubernetes.io/docs/setup/production-environment/container-runtimes/#cgroup-drivers",
    )
