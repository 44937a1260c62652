"""The node runs on cgroup v2 alone.

On v1 and on hybrid (v1 controllers with a cgroup2 beside them) containers keep working, and Docker
takes cgroupfs by itself. But support is ending: systemd 256 refuses to start there unless it is
forced, 258 cannot at all; kubelet 1.35 refuses; Docker warns since 29. On WSL2 hybrid was the
default up to about 2.4 and is cured by an update of WSL. Moving to v2 changes Docker's default
driver to systemd, which exposes containers started with `--gpus`: set the driver first.

Bad:

    /sys/fs/cgroup            tmpfs
    /sys/fs/cgroup/devices    cgroup
    /sys/fs/cgroup/unified    cgroup2

Good:

    /sys/fs/cgroup            cgroup2

Repair: by hand: change how the node boots; on WSL2 run `wsl --update` first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyinfra_nvml.facts.cgroup import CgroupState, Mode
from pyinfra_nvml.facts.kubelet import KubeletState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP

_SYSTEMD_REFUSES = 256
"""systemd 256, NEWS: cgroup v1 only with SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1; 258: not at all."""

_KUBELET_REFUSES = (1, 35)
"""Kubernetes 1.35: KubeletConfiguration.failCgroupV1 defaults to true."""

_DOCKER_WARNS = 29
"""Docker 29.0 calls cgroup v1 deprecated, to go by May 2029 (moby/moby#51111)."""


def check(node: NodeState) -> Iterator[Outcome]:
    """What a node on v1 or hybrid has to expect."""
    hierarchy = node.cgroup
    if isinstance(hierarchy, Unknown):
        yield Undetermined("cgroups", hierarchy.reason)
    elif hierarchy.mode is Mode.NONE:
        yield NotApplicable("no cgroup file system is mounted")
    elif hierarchy.mode is not Mode.V2:
        yield _finding(node, hierarchy)
        yield from _doubts(node)


def _finding(node: NodeState, hierarchy: CgroupState) -> Finding:
    refusals = [*_systemd(node), *_kubelet(node)]
    reasons = refusals or [*_docker(node)] or ["systemd from 256 and kubelet from 1.35 refuse it"]
    return Finding(
        level=Level.AT_RISK if refusals else Level.ADVICE,
        subject="cgroups",
        saw=f"{_seen(hierarchy)}, controllers {' '.join(hierarchy.controllers)}",
        want="cgroup2 at /sys/fs/cgroup, and no v1 controller",
        why="; ".join(reasons),
        repair=Repair.MANUAL,
        do=_do(node, hierarchy),
        avoid=_avoid(node),
        reference="https://docs.kernel.org/admin-guide/cgroup-v2.html",
    )


def _seen(hierarchy: CgroupState) -> str:
    beside = " with a cgroup2 beside it (hybrid)" if hierarchy.mode is Mode.HYBRID else ""
    return f"cgroup v1{beside}"


def _systemd(node: NodeState) -> Iterator[str]:
    systemd = node.systemd_manager
    if systemd is None or isinstance(systemd, Unknown) or isinstance(systemd.number, Unknown):
        return
    if systemd.number >= _SYSTEMD_REFUSES:
        yield (
            f"systemd {systemd.number} runs on v1 only when forced, and 258 does not at all: its"
            " next update ends that"
        )


def _kubelet(node: NodeState) -> Iterator[str]:
    kubelet = node.kubelet
    if kubelet is None or isinstance(kubelet, Unknown) or not _refusing(kubelet):
        return
    kept = (
        " (failCgroupV1: false keeps it going for now)" if kubelet.fail_cgroup_v1 is False else ""
    )
    yield f"kubelet {kubelet.version} refuses v1 when it starts{kept}"


def _refusing(kubelet: KubeletState) -> bool:
    if not isinstance(kubelet.version, str):
        return False
    numbers = tuple(int(part) for part in re.findall(r"\d+", kubelet.version)[:2])
    return numbers >= _KUBELET_REFUSES


def _docker(node: NodeState) -> Iterator[str]:
    info = node.engine_info
    if info is None or isinstance(info, Unknown):
        return
    major = info.server_version.partition(".")[0]
    if major.isdecimal() and int(major) >= _DOCKER_WARNS:
        yield f"Docker {info.server_version} calls cgroup v1 deprecated, to go by May 2029"


def _do(node: NodeState, hierarchy: CgroupState) -> str:
    if isinstance(node.wsl, WslState):
        return (
            "on Windows: wsl --update, then wsl --shutdown; if it stays hybrid, kernelCommandLine ="
            " cgroup_no_v1=all under [wsl2] in .wslconfig (for every distribution of that user);"
            " deploys/wsl.py writes it out, with the price of each step"
        )
    machine = node.machine
    if not isinstance(machine, Unknown) and isinstance(machine.container, str):
        return f"change it on the host: this node is a container ({machine.container})"
    if hierarchy.systemd:
        return "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line"
    return "let the init system mount cgroup2 at /sys/fs/cgroup (OpenRC: rc_cgroup_mode=unified)"


def _avoid(node: NodeState) -> str:
    if node.docker_engine is None:
        return ""
    return (
        "moving to v2 before native.cgroupdriver=cgroupfs stands in daemon.json: by itself Docker"
        " takes systemd there, and containers with --gpus lose the GPU at a daemon-reload"
    )


def _doubts(node: NodeState) -> Iterator[Undetermined]:
    """What could raise the level and could not be read."""
    if isinstance(node.systemd_manager, Unknown):
        yield Undetermined("systemd", node.systemd_manager.reason)
    elif node.systemd_manager is not None and isinstance(node.systemd_manager.number, Unknown):
        yield Undetermined("systemd", node.systemd_manager.number.reason)
    if isinstance(node.kubelet, Unknown):
        yield Undetermined("kubelet", node.kubelet.reason)
    elif node.kubelet is not None and isinstance(node.kubelet.version, Unknown):
        yield Undetermined("kubelet", node.kubelet.version.reason)
