"""Which engine of a node reads a CDI spec, whether it takes it, and which MIG devices are in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, normpath

from pyinfra_nvml.facts.cdi_specs import CdiSpec
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.mig import MigState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.pod_runtime import PodRuntimeState
from pyinfra_nvml.facts.runtime_versions import RuntimeVersionsState
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown

GPU = "nvidia.com/gpu"
"""The kind that a person asks an engine for; those of Kubernetes have names of their own
(k8s.device-plugin.nvidia.com/gpu, k8s.gpu.nvidia.com/claim, management.nvidia.com/gpu)."""

_GROUPS = (0, 7, 0)
"""The version with additionalGids, in what nvidia-ctk writes from 1.19.1 on."""

TAKES = {"docker": (26, 1), "containerd": (1, 7, 16), "podman": (5, 1), "cri-o": (1, 30)}
"""The first of each that takes it (NVIDIA container toolkit, release notes 1.19.1)."""

_OURS = ("/etc/cdi", "/var/run/cdi")
"""Where we look, as the engines do unless they are told otherwise."""


def read_by(info: EngineInfo, spec: CdiSpec) -> bool:
    """Whether this Docker looks for specs where this one is."""
    return _place(dirname(spec.path)) in {_place(path) for path in info.cdi_directories}


def not_looked_into(info: EngineInfo) -> str:
    """A directory that this Docker takes specs from and that we do not; empty where none is."""
    return next((path for path in info.cdi_directories if _place(path) not in _OURS), "")


def readers(node: NodeState, spec: CdiSpec) -> Iterator[tuple[str, str | Unknown]]:
    """The engines that give devices of this spec, each with its version."""
    versions, runtime = node.runtime_versions, node.pod_runtime
    if spec.kind != GPU:
        if isinstance(runtime, PodRuntimeState) and isinstance(versions, RuntimeVersionsState):
            told = versions.containerd if runtime.name == "containerd" else versions.crio
            yield runtime.name, told or Unknown(f"{runtime.name}: no version to be had")
        return
    info = node.engine_info
    if isinstance(info, Unknown):
        yield "docker", info
    elif info is not None and read_by(info, spec):
        yield "docker", info.server_version
    podman = versions if isinstance(versions, Unknown) else versions.podman
    if podman is not None:
        yield "podman", podman


def reader_groups(spec: CdiSpec) -> bool:
    """Whether it is of a version that not every engine with CDI takes."""
    return (_version(spec) or ()) >= _GROUPS


def spec_refusal(spec: CdiSpec, engine: str, version: str) -> bool | Unknown:
    """Whether this engine takes nothing of the spec: it was made for a newer one."""
    if not reader_groups(spec):
        return False
    if _version(spec) != _GROUPS:
        return Unknown(f"whether {engine} {version} takes cdiVersion {spec.version}")
    return (release(version) or ()) < TAKES[engine]


def _version(spec: CdiSpec) -> tuple[int, ...] | None:
    return release(spec.version) if isinstance(spec.version, str) else None


def not_in(specs: tuple[CdiSpec, ...], mig: MigState) -> tuple[str, ...] | Unknown:
    """The MIG devices that no spec has, by their capability files: ``("gpu0/mig/gi1/ci0",)``."""
    if isinstance(mig.capabilities, Unknown):
        return mig.capabilities
    given: set[int] = set()
    for spec in specs:
        if isinstance(spec.capabilities, Unknown):
            return spec.capabilities
        given.update(spec.capabilities if spec.kind == GPU else ())
    devices = [
        one for one in mig.capabilities if re.fullmatch(r"gpu\d+/mig/gi\d+/ci\d+/access", one.path)
    ]
    return tuple(
        one.path.rpartition("/")[0]
        for one in devices
        if isinstance(one.minor, int) and one.minor not in given
    )


def _place(path: str) -> str:
    return re.sub(r"^/run/", "/var/run/", normpath(path))
