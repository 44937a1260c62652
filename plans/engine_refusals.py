"""Every reason not to change a node's cgroup driver, each with what to do instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pyinfra_nvml.combiners.alternatives import KUBERNETES
from pyinfra_nvml.combiners.driver_state import boots_in_step
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_library import NvidiaLibraryState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.unknown import Unknown

# Their /etc is rebuilt at boot or by the system's own tools (os-release(5), ID).
_APPLIANCES = {
    "nixos": "set virtualisation.docker.daemon.settings in configuration.nix",
    "bottlerocket": "use its settings API",
    "cos": "put it into the instance's cloud-init: /etc is rebuilt at boot",
    "talos": "change the machine configuration",
}


def engine_refusals(node: NodeState, engine: DockerEngineState, driver: str) -> Iterator[Refusal]:
    """Every reason that the node itself gives; those of daemon.json come from its plan."""
    yield from not_root(node)
    yield from _kubernetes(node)
    yield from _appliance(node)
    yield from _variant(node, engine)
    yield from _answers(node, engine, driver)


def not_root(node: NodeState) -> Iterator[Refusal]:
    """A user who may not change the node."""
    uid = node.machine if isinstance(node.machine, Unknown) else node.machine.uid
    if isinstance(uid, Unknown):
        yield Refusal("user", uid.reason, "root")
    elif uid != 0:
        yield Refusal("user", f"uid {uid}", "root", "set _sudo = True for this host")


def _kubernetes(node: NodeState) -> Iterator[Refusal]:
    """Kubelet and the runtime need the same driver; the Docker cure alone splits them."""
    kubelet = node.kubelet
    if kubelet is None:
        return
    on_docker = kubelet if isinstance(kubelet, Unknown) else kubelet.on_docker
    if isinstance(on_docker, Unknown):
        want = "to know whether its pods run on this Docker"
        yield Refusal("kubelet", on_docker.reason, want, f"use {KUBERNETES}")
    elif on_docker:
        saw = "its pods run on this Docker"
        yield Refusal("kubelet", saw, "both drivers alike", f"use {KUBERNETES}")


def _appliance(node: NodeState) -> Iterator[Refusal]:
    system = None if isinstance(node.machine, Unknown) else node.machine.os_id
    if isinstance(system, str) and system in _APPLIANCES:
        saw = f"{system}, which makes its own /etc"
        yield Refusal("operating system", saw, "one whose /etc stays", _APPLIANCES[system])


def _variant(node: NodeState, engine: DockerEngineState) -> Iterator[Refusal]:
    info = engine.info
    name = "Docker engine"
    if isinstance(info, EngineInfo) and info.rootless:
        instead = "rootless containers do not lose devices this way; nothing is to be done"
        yield Refusal(name, "rootless", "the system's engine", instead)
    if isinstance(info, EngineInfo) and info.desktop:
        instead = "change it in Docker Desktop's settings"
        yield Refusal(name, "Docker Desktop", "an engine on this node", instead)
    process = engine.process
    if process is None or isinstance(process, Unknown):
        if isinstance(info, EngineInfo):
            saw = "none on this node" if process is None else process.reason
            yield Refusal("dockerd process", saw, "the engine that docker talks to, on this node")
    elif process.snap:
        instead = "the snap uses CDI by default; its file is under /var/snap/docker"
        yield Refusal(name, "the snap", "Docker's or the distribution's package", instead)
    daemons = node.daemons
    running = () if isinstance(daemons, Unknown) else daemons.named("dockerd")
    # A child of dockerd between fork and exec has its name and its command line for a moment.
    if len({one.arguments for one in running}) > 1:
        saw = f"{len(running)} dockerd: {', '.join(str(d.pid) for d in running)}"
        yield Refusal(name, saw, "one engine on the node")


def _answers(node: NodeState, engine: DockerEngineState, driver: str) -> Iterator[Refusal]:
    if isinstance(engine.info, Unknown):
        want = "an engine that answers docker info"
        unit = engine.unit
        state = {} if unit is None or isinstance(unit, Unknown) else unit.properties
        down = state.get("ActiveState") in ("inactive", "failed")
        instead = "systemctl start docker, then run this again" if down else ""
        yield Refusal("Docker engine", engine.info.reason, want, instead)
    elif engine.info.live_restore and engine.info.in_swarm:
        yield Refusal("live-restore", "on, on a node of a swarm", "one of the two")
    if driver == "systemd" and isinstance(node.cgroup, Unknown):
        want = "to know it for the systemd driver"
        yield Refusal("cgroup hierarchy", node.cgroup.reason, want)


def losses(stopped: Collection[Inspected]) -> Iterator[Refusal]:
    """Containers that a stop ends for good."""
    if names := [one.name for one in stopped if one.auto_remove]:
        saw = f"--rm on {', '.join(names)}, which Docker removes when it stops"
        yield Refusal(
            "containers", saw, "containers that can come back", "let them end", Overrule.REMOVE
        )
    if names := [one.name for one in stopped if one.status == "paused"]:
        saw = f"paused: {', '.join(names)}, whose state a stop ends"
        yield Refusal("containers", saw, "none paused", "docker unpause", Overrule.PAUSED)
    if names := [one.name for one in stopped if one.ecs_cluster]:
        saw = f"tasks of ECS: {', '.join(names)}"
        instead = "drain the container instance first"
        yield Refusal("containers", saw, "no task of a scheduler", instead, Overrule.ECS)


def risks(node: NodeState, stops: Iterable[Inspected]) -> Iterator[Refusal]:
    """What a restart of the engine would cost for good, or why it might never end."""
    stopped = tuple(stops)
    yield from losses(stopped)
    yield from _skew(node, stopped)
    log = (
        None
        if node.nvidia_driver is None or isinstance(node.nvidia_driver, Unknown)
        else node.nvidia_driver.log
    )
    if log is not None and not isinstance(log, Unknown) and log.fallen:
        saw = "a GPU that has fallen off the bus (Xid 79)"
        yield Refusal(
            "kernel log", saw, "every GPU on the bus", "reboot the node", Overrule.GPU_LOST
        )
    if isinstance(node.stuck_processes, Unknown):
        want = "to know that no container's process is stuck"
        yield Refusal(
            "processes in state D", node.stuck_processes.reason, want, overrule=Overrule.STUCK
        )
    elif node.stuck_processes.processes:
        saw = ", ".join(f"{one.name} ({one.pid})" for one in node.stuck_processes.processes)
        instead = "their containers cannot stop; find out what they wait for, or reboot"
        yield Refusal("processes in state D", saw, "none in a container", instead, Overrule.STUCK)


def _skew(node: NodeState, stopped: tuple[Inspected, ...]) -> Iterator[Refusal]:
    """Where module and library differ, or no library is there, no container starts with a GPU."""
    driver = node.nvidia_driver if isinstance(node.nvidia_driver, NvidiaDriverState) else None
    loaded, library = (driver.loaded, driver.library) if driver else (None, None)
    if not isinstance(loaded, str) or (isinstance(library, str) and same(loaded, library)):
        return
    found = () if isinstance(node.gpu_containers, Unknown) else node.gpu_containers.containers
    with_gpu = {one.id for one in found}
    names = [one.name for one in stopped if one.id in with_gpu]
    libraries = driver.libraries if driver else None
    gone = library is None and isinstance(libraries, NvidiaLibraryState) and not libraries.files
    if names or gone:
        known = library.reason if isinstance(library, Unknown) else library or "on no path"
        who = ", ".join(names) or "a container with a GPU"
        may = "may" if isinstance(library, Unknown) else "would"
        saw = f"module {loaded}, libnvidia-ml {known}; {who} {may} not start again"
        ends = "; a reboot brings both" if driver and boots_in_step(driver) is True else ""
        instead = f"first do what driver-skew says{ends}"
        yield Refusal("driver", saw, "one version", instead, Overrule.SKEW)
