"""Every CDI spec names the driver that the node has.

A CDI spec lists the driver's files by version. After a driver update without a new `nvidia-ctk cdi
generate` it names files that are gone, and no container starts with it. The toolkit's
`nvidia-cdi-refresh` service (1.18 and newer) rewrites /var/run/cdi/nvidia.yaml after a driver
change; one written by hand to /etc/cdi stays as it was. On WSL2 a spec names directories of
Windows' driver store, which go when Windows updates its driver. A spec that names the libraries of
two drivers was put together by hand, and is reported as unknown.

Bad:

    /etc/cdi/nvidia.yaml   libcuda.so.535.161.07   driver 550.90.07

Good:

    /var/run/cdi/nvidia.yaml   libcuda.so.550.90.07   driver 550.90.07

Repair: run `nvidia-ctk cdi generate --output=FILE` again. Nothing stops.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.cdi_specs import CdiSpec
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.VERSIONS

_REFRESHES = (1, 18, 0)
"""NVIDIA container toolkit, release notes 1.18.0: nvidia-cdi-refresh."""

_FIRST = (100,)
"""Jetson's library is libcuda.so.1.1 whatever its driver; every other one has the driver's own."""


_REFERENCE = (
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html"
)


def check(node: NodeState) -> Iterator[Outcome]:
    """Specs that name neither the library's version nor the loaded module's."""
    toolkit = node.container_toolkit
    if toolkit is None:
        yield NotApplicable("no container toolkit and no CDI spec on this node")
    elif isinstance(toolkit, Unknown):
        yield Undetermined("CDI specs", toolkit.reason)
    elif isinstance(toolkit.specs, Unknown):
        yield Undetermined("CDI specs", toolkit.specs.reason)
    elif not toolkit.specs:
        yield _no_spec(node, toolkit)
    elif isinstance(node.wsl, WslState):
        yield from _on_wsl(node.wsl, toolkit.specs)
    elif node.nvidia_driver is None:
        yield NotApplicable("a CDI spec, but no NVIDIA driver on this node")
    else:
        yield from _specs(node, toolkit.specs)


def _no_spec(node: NodeState, toolkit: ContainerToolkitState) -> Outcome:
    """From 1.18 on a service of the toolkit's package writes one at boot and after an update."""
    version = toolkit.version if isinstance(toolkit.version, str) else ""
    loaded = (
        node.nvidia_driver.loaded if isinstance(node.nvidia_driver, NvidiaDriverState) else None
    )
    ours = toolkit.has("nvidia-ctk") is True and node.kubelet is None
    if not (ours and isinstance(loaded, str) and (release(version) or ()) >= _REFRESHES):
        return NotApplicable("no CDI spec of NVIDIA's on this node")
    return Finding(
        level=Level.ADVICE,
        subject="CDI spec",
        saw=f"none under /etc/cdi and /var/run/cdi; toolkit {version}, driver {loaded}",
        want="/var/run/cdi/nvidia.yaml, written by nvidia-cdi-refresh.service",
        why="--device nvidia.com/gpu=all finds nothing, and Docker 29.2 and newer fall back to the"
        " legacy hook for --gpus",
        repair=Repair.MANUAL,
        do="journalctl -u nvidia-cdi-refresh names the reason; then nvidia-ctk cdi generate"
        " --output=/var/run/cdi/nvidia.yaml",
        reference=_REFERENCE,
    )


def _on_wsl(wsl: WslState, specs: tuple[CdiSpec, ...]) -> Iterator[Outcome]:
    """On WSL2 a spec names directories of Windows' driver store, each of one driver."""
    named = [spec for spec in specs if spec.stores]
    if not named:
        yield NotApplicable("WSL: no spec names a directory of Windows' driver store")
    for spec in named:
        gone = [store for store in spec.stores if store not in wsl.stores]
        if gone:
            yield Finding(
                level=Level.AT_RISK,
                subject=f"CDI spec {spec.path}",
                saw=f"{', '.join(gone)} of Windows' driver store, not there",
                want=", ".join(wsl.stores) or "a directory that is there",
                why="Windows updated its driver, and the files that the spec names went: the next"
                " container started with CDI fails",
                repair=Repair.MANUAL,
                do=f"nvidia-ctk cdi generate --output={spec.path}; from toolkit 1.19.1 on"
                " nvidia-cdi-refresh does so at boot for /var/run/cdi",
                evidence=(f"{spec.path}: /usr/lib/wsl/drivers/{gone[0]}",),
                reference=_REFERENCE,
            )


def _specs(node: NodeState, specs: tuple[CdiSpec, ...]) -> Iterator[Outcome]:
    versions = _versions(node)
    for spec in specs:
        if isinstance(spec.driver, Unknown):
            yield Undetermined(f"CDI spec {spec.path}", spec.driver.reason)
        elif spec.driver is None or (release(spec.driver) or ()) < _FIRST:
            continue  # devices of other kinds (IMEX channels, GDS) name no library
        elif isinstance(versions, Unknown):
            yield Undetermined("driver", versions.reason)
        elif not any(same(spec.driver, version) for version in versions):
            yield _finding(spec, spec.driver, versions, _covered(spec, specs, versions))


def _versions(node: NodeState) -> tuple[str, ...] | Unknown:
    """What a spec may name: between an update and its reboot there are two (driver-skew)."""
    driver = node.nvidia_driver
    if driver is None or isinstance(driver, Unknown):
        return driver or ()
    told = (driver.library, driver.loaded)
    doubt = next((version for version in told if isinstance(version, Unknown)), None)
    known = tuple(version for version in told if isinstance(version, str))
    return doubt or known or Unknown("no driver version found")


def _covered(
    spec: CdiSpec, specs: tuple[CdiSpec, ...], versions: tuple[str, ...]
) -> CdiSpec | None:
    """A good spec of the same kind in /var/run/cdi: it beats /etc/cdi (CDI, SPEC.md, priority)."""
    if spec.path.startswith("/var/run/"):
        return None
    for other in specs:
        if other.path.startswith("/var/run/") and other.kind == spec.kind:
            driver = other.driver
            if isinstance(driver, str) and any(same(driver, version) for version in versions):
                return other
    return None


def _finding(
    spec: CdiSpec, named: str, versions: tuple[str, ...], covering: CdiSpec | None
) -> Finding:
    if covering:
        why = f"{covering.path} has the same devices and wins, so this one is only left over"
        do = f"rm {spec.path}"
    else:
        why = "the files it names are not there: the next container started with CDI fails"
        do = f"nvidia-ctk cdi generate --output={spec.path}"
    return Finding(
        level=Level.ADVICE if covering else Level.AT_RISK,
        subject=f"CDI spec {spec.path}",
        saw=f"{spec.kind} for driver {named}",
        want=f"driver {' or '.join(dict.fromkeys(versions)) or 'installed'}",
        why=why,
        repair=Repair.MANUAL,
        do=do,
        evidence=(f"{spec.path}: lib*.so.{named}",),
        reference=_REFERENCE,
    )
