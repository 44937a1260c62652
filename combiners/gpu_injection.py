"""How the GPU gets into a container that this node's engine starts: legacy hook or CDI."""

from __future__ import annotations

from pyinfra_nvml.combiners import cdi_readers as cdi
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.docker_inspect import Request
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.oci_container import Injection
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown

_CDI_GPUS = (29, 2, 0)
"""The first Docker whose ``--gpus`` tries CDI first (moby, daemon/devices_nvidia_linux.go)."""

_JIT_CDI = (1, 18, 0)
"""The first toolkit whose runtime mode ``auto`` is CDI (NVIDIA's release notes of it)."""


def gpus_by_hook(toolkit: ContainerToolkitState, info: EngineInfo) -> bool | Unknown:
    """Whether ``docker run --gpus`` goes through the legacy hook on this engine."""
    hook = toolkit.has("nvidia-container-runtime-hook")
    if isinstance(hook, Unknown) or not hook:
        return hook
    if (release(info.server_version) or ()) >= _CDI_GPUS and info.cdi_directories:
        found = _gpus_find_cdi(toolkit, info)
        if isinstance(found, Unknown) or found:
            return found if isinstance(found, Unknown) else False
    if "nvidia" in info.default_runtime:
        edits = runtime_is_cdi(toolkit)
        return edits if isinstance(edits, Unknown) else not edits
    return True


def _gpus_find_cdi(toolkit: ContainerToolkitState, info: EngineInfo) -> bool | Unknown:
    """Whether CDI serves ``--gpus``: without a spec Docker falls back to the hook, and says so in
    its log alone (moby, daemon/devices_nvidia_linux.go)."""
    hook = toolkit.has("nvidia-cdi-hook")
    if isinstance(hook, Unknown) or not hook:
        return hook
    if isinstance(toolkit.specs, Unknown):
        return toolkit.specs
    kinds = [spec.kind for spec in toolkit.specs if cdi.read_by(info, spec)]
    if cdi.GPU in kinds:
        return True
    if other := cdi.not_looked_into(info):
        return Unknown(f"CDI specs: Docker reads {other} too, which was not looked into")
    return next((kind for kind in kinds if isinstance(kind, Unknown)), False)


def ways(
    container: GpuContainer, toolkit: ContainerToolkitState | Unknown | None
) -> tuple[str, ...]:
    """How this container's GPU came in, by its spec: ``("legacy hook",)``, ``("jit-cdi",)``.

    CDI's edits in a spec that NVIDIA's runtime was handed are the runtime's own, unless the
    container asked its engine for CDI. In mode jit-cdi no spec file on the node is read for them.
    """
    spec = container.spec
    if spec is None or isinstance(spec, Unknown):
        return ()
    own = spec.by_nvidia_runtime and Request.CDI not in container.requests
    jit = own and isinstance(toolkit, ContainerToolkitState) and _edits_at_once(toolkit) is True
    given = [Injection.JIT_CDI if jit and w is Injection.CDI else w for w in spec.injection]
    return tuple(way.value for way in given)


def runtime_is_cdi(toolkit: ContainerToolkitState) -> bool | Unknown:
    """Whether the runtime ``nvidia`` takes the legacy hook out and edits the spec itself."""
    return True if _mode(toolkit) in ("cdi", "csv") else _edits_at_once(toolkit)


def _edits_at_once(toolkit: ContainerToolkitState) -> bool | Unknown:
    """Whether the runtime ``nvidia`` makes CDI's edits itself at each start (jit-cdi)."""
    mode = _mode(toolkit)
    if isinstance(mode, Unknown):
        return mode
    if mode != "auto":
        return mode == "jit-cdi"
    if isinstance(toolkit.version, Unknown):
        return toolkit.version
    if toolkit.version is None:
        return Unknown("container toolkit: no version found, mode auto")
    return (release(toolkit.version) or ()) >= _JIT_CDI


def _mode(toolkit: ContainerToolkitState) -> str | Unknown:
    if isinstance(toolkit.config, Unknown):
        return toolkit.config
    mode = (toolkit.config.mode if toolkit.config else None) or "auto"
    # On Jetson auto is csv, which edits the spec too (NVIDIA/nvidia-container-toolkit, auto.go).
    if mode != "auto" or toolkit.tegra is False:
        return mode
    return "csv" if toolkit.tegra is True else toolkit.tegra
