"""Everything that a node says, in one exec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_origin, get_type_hints

from typing_extensions import override

from pyinfra_nvml.facts.automatic_updates import AutomaticUpdates, AutomaticUpdatesState
from pyinfra_nvml.facts.cgroup import Cgroup, CgroupState
from pyinfra_nvml.facts.cluster import ClusterNode
from pyinfra_nvml.facts.container_toolkit import ContainerToolkit, ContainerToolkitState
from pyinfra_nvml.facts.daemon_json import DaemonJson, DaemonJsonState
from pyinfra_nvml.facts.daemons import Daemons, DaemonsState
from pyinfra_nvml.facts.dev_char_links import DevCharLinks, DevCharLinksState
from pyinfra_nvml.facts.docker_engine import DockerEngine, DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_inspect import DockerInspect, DockerInspectState
from pyinfra_nvml.facts.docker_unit import DockerUnit, DockerUnitState
from pyinfra_nvml.facts.fabric_manager import FabricManager, FabricManagerState
from pyinfra_nvml.facts.gpu_containers import GpuContainers, GpuContainersState
from pyinfra_nvml.facts.gpu_operator import GpuOperator, GpuOperatorState
from pyinfra_nvml.facts.gpu_processes import GpuProcesses, GpuProcessesState
from pyinfra_nvml.facts.kubelet import Kubelet, KubeletState
from pyinfra_nvml.facts.machine import Machine, MachineState
from pyinfra_nvml.facts.mig import Mig, MigState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriver, NvidiaDriverState
from pyinfra_nvml.facts.nvidia_params import NvidiaParams, NvidiaParamsState
from pyinfra_nvml.facts.oci_specs import OciSpecs, OciSpecsState
from pyinfra_nvml.facts.package_holds import PackageHolds, PackageHoldsState
from pyinfra_nvml.facts.pod_runtime import PodRuntime, PodRuntimeState
from pyinfra_nvml.facts.probe import Probe, Sections
from pyinfra_nvml.facts.reboot_required import RebootRequired, RebootRequiredState
from pyinfra_nvml.facts.runtime_versions import RuntimeVersions, RuntimeVersionsState
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.stuck_processes import StuckProcesses, StuckProcessesState
from pyinfra_nvml.facts.systemd_manager import SystemdManager, SystemdManagerState
from pyinfra_nvml.facts.wsl import Wsl, WslState
from pyinfra_nvml.model.unknown import Unknown, Value


@dataclass(frozen=True)
class NodeState(Value):
    """The value of every fact for one node: ``None`` there is none, ``Unknown`` could not tell.

    A field names the type of its value and the fact that reads it; that is all a fact needs here.
    ``cluster`` is not the node's own word: it is put beside the others where the inventory gives a
    kubeconfig (fleet/kubectl.py).

    .. code:: python

        NodeState(machine=MachineState(...), docker_engine=DockerEngineState(...), wsl=None, ...)
    """

    machine: Annotated[MachineState | Unknown, Machine]
    daemons: Annotated[DaemonsState | Unknown, Daemons]
    cgroup: Annotated[CgroupState | Unknown, Cgroup]
    systemd_manager: Annotated[SystemdManagerState | Unknown | None, SystemdManager]
    wsl: Annotated[WslState | Unknown | None, Wsl]
    nvidia_driver: Annotated[NvidiaDriverState | Unknown | None, NvidiaDriver]
    container_toolkit: Annotated[ContainerToolkitState | Unknown | None, ContainerToolkit]
    kubelet: Annotated[KubeletState | Unknown | None, Kubelet]
    pod_runtime: Annotated[PodRuntimeState | Unknown | None, PodRuntime]
    docker_engine: Annotated[DockerEngineState | Unknown | None, DockerEngine]
    daemon_json: Annotated[DaemonJsonState | Unknown, DaemonJson]
    docker_inspect: Annotated[DockerInspectState | Unknown, DockerInspect]
    gpu_containers: Annotated[GpuContainersState | Unknown, GpuContainers]
    gpu_processes: Annotated[GpuProcessesState | Unknown | None, GpuProcesses]
    stuck_processes: Annotated[StuckProcessesState | Unknown, StuckProcesses]
    oci_specs: Annotated[OciSpecsState | Unknown, OciSpecs]
    nvidia_params: Annotated[NvidiaParamsState | Unknown | None, NvidiaParams]
    mig: Annotated[MigState | Unknown | None, Mig]
    fabric_manager: Annotated[FabricManagerState | Unknown | None, FabricManager]
    dev_char_links: Annotated[DevCharLinksState | Unknown | None, DevCharLinks]
    runtime_versions: Annotated[RuntimeVersionsState | Unknown, RuntimeVersions]
    docker_unit: Annotated[DockerUnitState | Unknown, DockerUnit]
    gpu_operator: Annotated[GpuOperatorState | Unknown | None, GpuOperator]
    package_holds: Annotated[PackageHoldsState | Unknown, PackageHolds]
    automatic_updates: Annotated[AutomaticUpdatesState | Unknown, AutomaticUpdates]
    reboot_required: Annotated[RebootRequiredState | Unknown, RebootRequired]
    cluster: ClusterNode | Unknown | None = None

    @property
    def engine_info(self) -> EngineInfo | Unknown | None:
        """What this node's Docker says of itself; ``None`` where there is no engine."""
        engine = self.docker_engine
        return engine if engine is None or isinstance(engine, Unknown) else engine.info

    @property
    def podman(self) -> bool:
        """Whether ``docker`` is podman here."""
        return isinstance(self.docker_unit, DockerUnitState) and self.docker_unit.podman


def _sources() -> dict[str, type[Source[Any]]]:
    """Each field of a node's value, and the fact that reads it."""
    hints = get_type_hints(NodeState, include_extras=True)
    return {
        name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated
    }


SOURCES = _sources()


def _probes() -> tuple[Probe, ...]:
    """The probes of all sources; one that two sources share runs once."""
    named = {probe.name: probe for source in SOURCES.values() for probe in source.probes}
    return tuple(named.values())


class Node(Source[NodeState]):
    """Everything that a node says, in a single exec; the parsers are those of the single facts.

    .. code:: python

        NodeState(machine=MachineState(...), docker_engine=DockerEngineState(...), ...)
    """

    probes = _probes()

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NodeState | Unknown:
        return NodeState(**{name: one.judged(sections) for name, one in SOURCES.items()})
