"""Everything that a node says, in one exec."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from facts.cgroup import CgroupHierarchy, Hierarchy
from facts.container_toolkit import ContainerToolkit, Toolkit
from facts.daemon_json import DaemonJson, DaemonJsonFiles
from facts.daemons import Daemons, RunningDaemons
from facts.docker_engine import DockerEngine, Engine
from facts.docker_inspect import Running, RunningContainers
from facts.gpu_containers import Containers, GpuContainers
from facts.kubelet import Kubelet, KubeletState
from facts.machine import Machine, MachineState
from facts.nvidia_driver import Driver, NvidiaDriver
from facts.probe import Probe, Sections
from facts.source import Source
from facts.systemd_manager import Manager, SystemdManager
from facts.unknown import Unknown, Value
from facts.wsl import Wsl, WslState


@dataclass(frozen=True)
class NodeState(Value):
    """The value of every fact for one node: ``None`` there is none, ``Unknown`` could not tell.

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
    engine: DockerEngine | Unknown | None
    daemon_json: DaemonJsonFiles | Unknown
    running: RunningContainers | Unknown
    gpu_containers: GpuContainers | Unknown


_SOURCES = (
    Machine,
    Daemons,
    Hierarchy,
    Manager,
    Wsl,
    Driver,
    Toolkit,
    Kubelet,
    Engine,
    DaemonJson,
    Running,
    Containers,
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
            engine=Engine.judged(sections),
            daemon_json=DaemonJson.judged(sections),
            running=Running.judged(sections),
            gpu_containers=Containers.judged(sections),
        )
