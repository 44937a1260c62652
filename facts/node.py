"""Everything that a node says, in one exec."""

from __future__ import annotations

from dataclasses import dataclass

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

    ``cluster`` is not the node's own word: it is put beside the others where the inventory gives a
    kubeconfig (fleet/kubectl.py).

    .. code:: python

        NodeState(machine=MachineState(...), docker_engine=DockerEngineState(...), wsl=None, ...)
    """

    machine: MachineState | Unknown
    daemons: DaemonsState | Unknown
    cgroup: CgroupState | Unknown
    systemd_manager: SystemdManagerState | Unknown | None
    wsl: WslState | Unknown | None
    nvidia_driver: NvidiaDriverState | Unknown | None
    container_toolkit: ContainerToolkitState | Unknown | None
    kubelet: KubeletState | Unknown | None
    pod_runtime: PodRuntimeState | Unknown | None
    docker_engine: DockerEngineState | Unknown | None
    daemon_json: DaemonJsonState | Unknown
    docker_inspect: DockerInspectState | Unknown
    gpu_containers: GpuContainersState | Unknown
    gpu_processes: GpuProcessesState | Unknown | None
    stuck_processes: StuckProcessesState | Unknown
    oci_specs: OciSpecsState | Unknown
    nvidia_params: NvidiaParamsState | Unknown | None
    mig: MigState | Unknown | None
    fabric_manager: FabricManagerState | Unknown | None
    dev_char_links: DevCharLinksState | Unknown | None
    runtime_versions: RuntimeVersionsState | Unknown
    docker_unit: DockerUnitState | Unknown
    gpu_operator: GpuOperatorState | Unknown | None
    package_holds: PackageHoldsState | Unknown
    automatic_updates: AutomaticUpdatesState | Unknown
    reboot_required: RebootRequiredState | Unknown
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


_SOURCES = (
    Machine,
    Daemons,
    Cgroup,
    SystemdManager,
    Wsl,
    NvidiaDriver,
    ContainerToolkit,
    Kubelet,
    PodRuntime,
    DockerEngine,
    DaemonJson,
    DockerInspect,
    GpuContainers,
    GpuProcesses,
    StuckProcesses,
    OciSpecs,
    NvidiaParams,
    Mig,
    FabricManager,
    DevCharLinks,
    RuntimeVersions,
    DockerUnit,
    GpuOperator,
    PackageHolds,
    AutomaticUpdates,
    RebootRequired,
)


def _probes() -> tuple[Probe, ...]:
    """The probes of all sources; one that two sources share runs once."""
    named = {probe.name: probe for source in _SOURCES for probe in source.probes}
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
        return NodeState(
            machine=Machine.judged(sections),
            daemons=Daemons.judged(sections),
            cgroup=Cgroup.judged(sections),
            systemd_manager=SystemdManager.judged(sections),
            wsl=Wsl.judged(sections),
            nvidia_driver=NvidiaDriver.judged(sections),
            container_toolkit=ContainerToolkit.judged(sections),
            kubelet=Kubelet.judged(sections),
            pod_runtime=PodRuntime.judged(sections),
            docker_engine=DockerEngine.judged(sections),
            daemon_json=DaemonJson.judged(sections),
            docker_inspect=DockerInspect.judged(sections),
            gpu_containers=GpuContainers.judged(sections),
            gpu_processes=GpuProcesses.judged(sections),
            stuck_processes=StuckProcesses.judged(sections),
            oci_specs=OciSpecs.judged(sections),
            nvidia_params=NvidiaParams.judged(sections),
            mig=Mig.judged(sections),
            fabric_manager=FabricManager.judged(sections),
            dev_char_links=DevCharLinks.judged(sections),
            runtime_versions=RuntimeVersions.judged(sections),
            docker_unit=DockerUnit.judged(sections),
            gpu_operator=GpuOperator.judged(sections),
            package_holds=PackageHolds.judged(sections),
            automatic_updates=AutomaticUpdates.judged(sections),
            reboot_required=RebootRequired.judged(sections),
        )
