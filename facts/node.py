"""Everything that a node says, in one exec."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.automatic_updates import AutomaticUpdates, Updates
from pyinfra_nvml.facts.cgroup import CgroupHierarchy, Hierarchy
from pyinfra_nvml.facts.char_links import CharLinks, Links
from pyinfra_nvml.facts.cluster import ClusterNode
from pyinfra_nvml.facts.container_toolkit import ContainerToolkit, Toolkit
from pyinfra_nvml.facts.daemon_json import DaemonJson, DaemonJsonFiles
from pyinfra_nvml.facts.daemons import Daemons, RunningDaemons
from pyinfra_nvml.facts.docker_engine import DockerEngine, Engine, EngineInfo
from pyinfra_nvml.facts.docker_inspect import Running, RunningContainers
from pyinfra_nvml.facts.engine_setup import EngineSetup, Setup
from pyinfra_nvml.facts.fabric_manager import FabricManager, FabricManagerState
from pyinfra_nvml.facts.gpu_containers import Containers, GpuContainers
from pyinfra_nvml.facts.gpu_processes import GpuWork, Work
from pyinfra_nvml.facts.kubelet import Kubelet, KubeletState
from pyinfra_nvml.facts.machine import Machine, MachineState
from pyinfra_nvml.facts.mig import Mig, MigState
from pyinfra_nvml.facts.nvidia_driver import Driver, NvidiaDriver
from pyinfra_nvml.facts.nvidia_params import NvidiaParams, Params
from pyinfra_nvml.facts.oci_specs import OciContainers, Specs
from pyinfra_nvml.facts.operator_traces import OperatorTraces, Traces
from pyinfra_nvml.facts.package_holds import Holds, PackageHolds
from pyinfra_nvml.facts.pod_runtime import PodRuntime, PodRuntimes
from pyinfra_nvml.facts.probe import Probe, Sections
from pyinfra_nvml.facts.reboot_requests import RebootRequests, Requests
from pyinfra_nvml.facts.runtime_versions import Runtimes, RuntimeVersions
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.stuck_processes import StuckInKernel, StuckProcesses
from pyinfra_nvml.facts.systemd_manager import Manager, SystemdManager
from pyinfra_nvml.facts.wsl import Wsl, WslState
from pyinfra_nvml.model.unknown import Unknown, Value


@dataclass(frozen=True)
class NodeState(Value):
    """The value of every fact for one node: ``None`` there is none, ``Unknown`` could not tell.

    ``cluster`` is not the node's own word: it is put beside the others where the inventory gives a
    kubeconfig (fleet/kubectl.py).

    .. code:: python

        NodeState(machine=MachineState(...), engine=DockerEngine(...), wsl=None, ...)
    """

    machine: MachineState | Unknown
    daemons: RunningDaemons | Unknown
    hierarchy: CgroupHierarchy | Unknown
    systemd: SystemdManager | Unknown | None
    wsl: WslState | Unknown | None
    driver: NvidiaDriver | Unknown | None
    toolkit: ContainerToolkit | Unknown | None
    kubelet: KubeletState | Unknown | None
    pod_runtime: PodRuntime | Unknown | None
    engine: DockerEngine | Unknown | None
    daemon_json: DaemonJsonFiles | Unknown
    running: RunningContainers | Unknown
    gpu_containers: GpuContainers | Unknown
    gpu_work: GpuWork | Unknown | None
    stuck: StuckProcesses | Unknown
    oci_specs: OciContainers | Unknown
    params: NvidiaParams | Unknown | None
    mig: MigState | Unknown | None
    fabric_manager: FabricManagerState | Unknown | None
    char_links: CharLinks | Unknown | None
    runtimes: RuntimeVersions | Unknown
    setup: EngineSetup | Unknown
    operator: OperatorTraces | Unknown | None
    holds: PackageHolds | Unknown
    updates: AutomaticUpdates | Unknown
    reboot: RebootRequests | Unknown
    cluster: ClusterNode | Unknown | None = None

    @property
    def engine_info(self) -> EngineInfo | Unknown | None:
        """What this node's Docker says of itself; ``None`` where there is no engine."""
        engine = self.engine
        return engine if engine is None or isinstance(engine, Unknown) else engine.info

    @property
    def podman(self) -> bool:
        """Whether ``docker`` is podman here."""
        return isinstance(self.setup, EngineSetup) and self.setup.podman


_SOURCES = (
    Machine,
    Daemons,
    Hierarchy,
    Manager,
    Wsl,
    Driver,
    Toolkit,
    Kubelet,
    PodRuntimes,
    Engine,
    DaemonJson,
    Running,
    Containers,
    Work,
    StuckInKernel,
    Specs,
    Params,
    Mig,
    FabricManager,
    Links,
    Runtimes,
    Setup,
    Traces,
    Holds,
    Updates,
    Requests,
)


def _probes() -> tuple[Probe, ...]:
    """The probes of all sources; one that two sources share runs once."""
    named = {probe.name: probe for source in _SOURCES for probe in source.probes}
    return tuple(named.values())


class Node(Source[NodeState]):
    """Everything that a node says, in a single exec; the parsers are those of the single facts.

    .. code:: python

        NodeState(machine=MachineState(...), engine=DockerEngine(...), ...)
    """

    probes = _probes()

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NodeState | Unknown:
        return NodeState(
            machine=Machine.judged(sections),
            daemons=Daemons.judged(sections),
            hierarchy=Hierarchy.judged(sections),
            systemd=Manager.judged(sections),
            wsl=Wsl.judged(sections),
            driver=Driver.judged(sections),
            toolkit=Toolkit.judged(sections),
            kubelet=Kubelet.judged(sections),
            pod_runtime=PodRuntimes.judged(sections),
            engine=Engine.judged(sections),
            daemon_json=DaemonJson.judged(sections),
            running=Running.judged(sections),
            gpu_containers=Containers.judged(sections),
            gpu_work=Work.judged(sections),
            stuck=StuckInKernel.judged(sections),
            oci_specs=Specs.judged(sections),
            params=Params.judged(sections),
            mig=Mig.judged(sections),
            fabric_manager=FabricManager.judged(sections),
            char_links=Links.judged(sections),
            runtimes=Runtimes.judged(sections),
            setup=Setup.judged(sections),
            operator=Traces.judged(sections),
            holds=Holds.judged(sections),
            updates=Updates.judged(sections),
            reboot=Requests.judged(sections),
        )
