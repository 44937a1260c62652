"""Containers that Docker starts from now on will keep the GPUs they are given.

With the cgroup driver `systemd`, a container started with `docker run --gpus` gets its devices from
the legacy hook, behind systemd, and loses them at the next `systemctl daemon-reload` or change of
its scope. Without the option `native.cgroupdriver`, Docker uses systemd on a node with cgroup v2:
an empty daemon.json is the exposed case. Docker 29.2 and newer turn `--gpus` into CDI where
`nvidia-cdi-hook` and a CDI spec are there (else they fall back to the hook, with a line in their
log); the `nvidia` runtime does so from container toolkit 1.18 on.

Bad:

    docker 20.10.24   Cgroup Driver: systemd, --gpus by the legacy hook

Good:

    docker 20.10.24   Cgroup Driver: cgroupfs

Repair: `deploys/fix_cgroup.py`. If kubelet uses this Docker, both need the same driver, and the
cure is in the GPU Operator or the device plugin.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.alternatives import on_docker_of_pods
from pyinfra_nvml.combiners.gpu_injection import gpus_by_hook
from pyinfra_nvml.combiners.guest import UNFILTERED, unfiltered
from pyinfra_nvml.combiners.no_cgroups import switched_off
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """Whether a container started with ``--gpus`` now would be exposed."""
    engine = node.docker_engine
    if engine is None:
        yield NotApplicable("no Docker engine on this node")
    elif node.nvidia_driver is None and node.container_toolkit is None:
        yield NotApplicable("no NVIDIA driver and no container toolkit on this node")
    elif node.podman:
        yield NotApplicable("docker is podman here: it has no cgroup driver of Docker's")
    elif isinstance(engine, Unknown):
        yield Undetermined("container engine", engine.reason)
    elif isinstance(engine.info, Unknown):
        yield Undetermined("container engine", engine.info.reason)
    elif engine.arguments and engine.arguments[0].startswith("/snap/"):
        yield NotApplicable("the snap sees no toolkit but its own, whose nvidia runtime is CDI")
    elif engine.info.cgroup_driver == "systemd":
        yield from _on_systemd(node, engine.info)


def _on_systemd(node: NodeState, info: EngineInfo) -> Iterator[Outcome]:
    if unfiltered(node):
        yield NotApplicable(UNFILTERED)
        return
    if info.rootless:
        yield NotApplicable("a rootless engine has no device cgroup to lose")
        return
    if info.snap:
        yield Undetermined(
            "container toolkit", "the docker snap has its own, which was not looked into"
        )
        return
    toolkit = node.container_toolkit
    if toolkit is None:
        yield NotApplicable("no container toolkit: Docker cannot start a container with --gpus")
        return
    if switched_off(node):
        yield NotApplicable("no-cgroups = true: the hook opens no device (toolkit-no-cgroups)")
        return
    legacy = toolkit if isinstance(toolkit, Unknown) else gpus_by_hook(toolkit, info)
    if isinstance(legacy, Unknown):
        yield Undetermined("container toolkit", legacy.reason)
    elif legacy:
        yield _finding(node, info)


def _finding(node: NodeState, info: EngineInfo) -> Finding:
    pods = on_docker_of_pods(node)
    return Finding(
        level=Level.AT_RISK,
        subject="container engine",
        saw=f"docker {info.server_version}, driver systemd, --gpus by the legacy hook",
        want="driver cgroupfs, or CDI for every GPU container",
        why="the hook adds the GPU behind systemd, which takes it away at its next write of the"
        " container's device filter",
        fix=("cgroupfs", "pod-delivery", "nvidia-runtime", "cdi", "explicit-devices"),
        avoid="never the Docker cure where kubelet uses this Docker"
        if pods
        else "`docker update` takes the GPU away on cgroupfs too",
        evidence=(
            f"cgroup v{info.cgroup_version}, runc {info.runc}, default runtime"
            f" {info.default_runtime}",
        ),
        reference="checks.md#engine-driver",
    )
