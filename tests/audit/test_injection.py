"""How a container's GPU came in: CDI and jit-cdi leave the same edits in its spec."""

from __future__ import annotations

import pytest

from pyinfra_nvml.combiners.gpu_injection import ways
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_inspect import Inspected, Request
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.oci_container import Injection, OciContainer
from pyinfra_nvml.facts.toolkit_config import ToolkitConfig
from pyinfra_nvml.model.unknown import Unknown

NVIDIA, RUNC = "/usr/bin/nvidia-container-runtime", "/usr/bin/runc"


def toolkit(version: str | Unknown | None, mode: str | None = None) -> ContainerToolkitState:
    config = ToolkitConfig("/etc/nvidia-container-runtime/config.toml", "", mode, None)
    return ContainerToolkitState((), version, config, ())


def container(injection: Injection, runtime: str, request: Request) -> GpuContainer:
    spec = OciContainer("4f66", "moby", injection=(injection,), runtime=runtime)
    asked = Inspected("4f66", requests=(request,))
    return GpuContainer("4f66", "trainer", "docker", "/", None, (), inspected=asked, spec=spec)


@pytest.mark.parametrize(
    ("injection", "runtime", "asked", "having", "way"),
    [
        (Injection.CDI, NVIDIA, Request.RUNTIME, toolkit("1.18.1"), "jit-cdi"),
        (Injection.CDI, NVIDIA, Request.RUNTIME, toolkit("1.17.8", "jit-cdi"), "jit-cdi"),
        (Injection.CDI, NVIDIA, Request.RUNTIME, toolkit("1.17.8", "cdi"), "CDI"),
        (Injection.CDI, NVIDIA, Request.RUNTIME, toolkit("1.17.8"), "CDI"),
        (Injection.CDI, NVIDIA, Request.CDI, toolkit("1.18.1"), "CDI"),
        (Injection.CDI, RUNC, Request.CDI, toolkit("1.18.1"), "CDI"),
        (Injection.CDI, NVIDIA, Request.RUNTIME, toolkit(Unknown("timed out")), "CDI"),
        (Injection.LEGACY, NVIDIA, Request.RUNTIME, toolkit("1.17.8"), "legacy hook"),
    ],
)
def test_way(
    injection: Injection, runtime: str, asked: Request, having: ContainerToolkitState, way: str
) -> None:
    assert ways(container(injection, runtime, asked), having) == (way,)


def test_without_a_spec_it_is_not_told() -> None:
    bare = GpuContainer("4f66", "trainer", "docker", "/", None, (), spec=Unknown("want root"))
    assert ways(bare, toolkit("1.18.1")) == ()
