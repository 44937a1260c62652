"""Every reason not to reboot a node for its driver, each with what to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState
from pyinfra_nvml.facts.docker_inspect import DockerInspectState, Inspected
from pyinfra_nvml.facts.gpu_containers import GpuContainersState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.reboot_conditions import RebootConditionsState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.finding import Finding, Level, Result
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_refusals import losses, not_root

SKEW = "driver-skew"


def skew(results: Iterable[Result]) -> Result | None:
    """What the audit says of the node's driver versions."""
    return next((result for result in results if result.check == SKEW), None)


def broken(result: Result | None) -> Finding | None:
    """The skew that makes new processes fail now; one that the next boot brings is none."""
    found = () if result is None else result.findings
    return next((finding for finding in found if finding.level is Level.BROKEN), None)


def reboot_refusals(
    node: NodeState,
    results: Iterable[Result],
    conditions: RebootConditionsState | Unknown,
    libraries: ContainerLibrariesState | Unknown,
    local: bool = False,
) -> Iterator[Refusal]:
    """Every reason against a reboot that was asked for, where there is a skew to cure by one."""
    if isinstance(node.wsl, WslState):
        instead = "wsl --shutdown on the Windows side; Windows brings the driver"
        yield Refusal("WSL", "a guest of Windows", "a node that boots its own kernel", instead)
        return
    result = skew(results)
    yield from _no_cure(result)
    if broken(result) is None:
        return
    if local:
        saw = "this machine, which runs this program too"
        yield Refusal("connection", saw, "ssh from another machine", "systemctl reboot by hand")
    yield from node_refusals(node)
    yield from _conditions(conditions)
    yield from _schedulers(conditions)
    yield from _libraries(node, libraries)


def node_refusals(node: NodeState) -> Iterator[Refusal]:
    """Every reason that the facts of an audit give: its finding names them too."""
    yield from not_root(node)
    yield from _guest(node)
    yield from _kubelet(node)
    yield from _containers(node.docker_inspect)


def _no_cure(result: Result | None) -> Iterator[Refusal]:
    """A skew that a reboot does not end, or that cannot be told to be one it ends."""
    finding = broken(result)
    if finding is not None and finding.repair is not Repair.REBOOT:
        yield Refusal("driver", finding.saw, "a skew that a reboot ends", finding.do)
    for doubt in () if result is None else result.doubts:
        yield Refusal(doubt.subject, doubt.reason, "to know that a reboot helps")


def _guest(node: NodeState) -> Iterator[Refusal]:
    container = None if isinstance(node.machine, Unknown) else node.machine.container
    if isinstance(container, Unknown):
        yield Refusal("machine", container.reason, "to know that it has a kernel of its own")
    elif container:
        saw = f"a container ({container}): the module is its host's"
        yield Refusal("machine", saw, "the host itself", "reboot the host", Overrule.GUEST)


def _conditions(conditions: RebootConditionsState | Unknown) -> Iterator[Refusal]:
    if isinstance(conditions, Unknown):
        yield Refusal("reboot", conditions.reason, "to know what it would meet")
        return
    if conditions.package_managers:
        saw = ", ".join(f"{one.name} ({one.pid})" for one in conditions.package_managers)
        instead = "let it end: a reboot in its middle leaves packages half installed"
        yield Refusal("package manager", f"{saw} at work", "none", instead)
    for block in conditions.blocks:
        yield Refusal("inhibitor", block, "none that blocks a shutdown", "systemd-inhibit --list")
    if conditions.scheduled:
        saw = f"a {conditions.scheduled} that somebody has scheduled"
        yield Refusal("shutdown", saw, "none", "let it come, or shutdown -c")


def _kubelet(node: NodeState) -> Iterator[Refusal]:
    """Kubernetes takes its pods off the node first."""
    kubelet = node.kubelet
    if kubelet is not None:
        saw = kubelet.reason if isinstance(kubelet, Unknown) else "a node of Kubernetes"
        instead = "kubectl drain NODE --ignore-daemonsets, then overrule; kubectl uncordon after"
        yield Refusal("kubelet", saw, "its pods moved away", instead, Overrule.KUBELET)


def _schedulers(conditions: RebootConditionsState | Unknown) -> Iterator[Refusal]:
    """Who has to take its work off the node first, or reboots it in its own order."""
    if isinstance(conditions, Unknown):
        return
    if conditions.schedulers:
        saw = ", ".join(conditions.schedulers)
        instead = "drain it there first (Slurm: scontrol reboot ASAP nextstate=RESUME NODE)"
        yield Refusal("scheduler", saw, "no jobs on this node", instead, Overrule.SCHEDULER)
    if "kured" in conditions.reboots:
        instead = "let it reboot by the flag; it drains and keeps its own order"
        yield Refusal("kured", "it reboots this node", "one who does", instead, Overrule.KURED)


def _libraries(node: NodeState, libraries: ContainerLibrariesState | Unknown) -> Iterator[Refusal]:
    """Containers whose image brings a library of its own: the new module refuses that one."""
    if isinstance(libraries, Unknown):
        yield Refusal(
            "libraries in containers", libraries.reason, "to know them", overrule=Overrule.LIBRARIES
        )
        return
    driver = node.nvidia_driver
    coming = driver.library if isinstance(driver, NvidiaDriverState) else None
    for one in libraries.libraries:
        if not one.mounted and one.version != coming:
            saw = f"libnvidia-ml {one.version} in its image"
            instead = f"take {one.path} out of the image: the driver's files come from the node"
            want = f"the node's, {coming}"
            yield Refusal(
                f"container {_name(node, one.container)}", saw, want, instead, Overrule.LIBRARIES
            )


def _name(node: NodeState, identity: str) -> str:
    """What its engine calls a container."""
    with_gpu, running = node.gpu_containers, node.docker_inspect
    known = {} if isinstance(running, Unknown) else {one.id: one.name for one in running.containers}
    if isinstance(with_gpu, GpuContainersState):
        known |= {one.id: one.name for one in with_gpu.containers}
    return known.get(identity) or identity[:12]


def _containers(running: DockerInspectState | Unknown) -> Iterator[Refusal]:
    if isinstance(running, Unknown):
        yield Refusal("running containers", running.reason, "to know what stops")
    else:
        yield from losses(running.containers)


def stops(node: NodeState) -> tuple[Inspected, ...]:
    """The containers that a reboot stops: all of them, live-restore or not."""
    return () if isinstance(node.docker_inspect, Unknown) else node.docker_inspect.containers
