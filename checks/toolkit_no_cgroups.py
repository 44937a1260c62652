"""The container toolkit opens the device cgroup of the containers it serves.

With `no-cgroups = true` in config.toml the legacy hook makes the device nodes in the container and
leaves its device cgroup shut: `Failed to initialize NVML: Unknown Error` from the first second. It
is meant for rootless engines, which have no device cgroup, and stays behind on others. In a system
container (LXC) it is usual too: an unprivileged one may not write device filters at all. There the
answer of a running container's device decides.

Bad:

    [nvidia-container-cli]
    no-cgroups = true

Good:

    [nvidia-container-cli]
    #no-cgroups = false

Repair: a human takes the line out (`nvidia-ctk config --in-place --set
nvidia-container-cli.no-cgroups=false`) and restarts the containers.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.driver.guest import UNFILTERED, guest, unfiltered
from audit.finding import Area, Doubt, Finding, Level, NotApplicable, Outcome, Repair
from audit.injection import gpus_by_hook, runtime_is_cdi
from audit.judged_toolkit import judged_toolkit
from facts.container_toolkit import ContainerToolkit
from facts.docker_engine import EngineInfo
from facts.node import NodeState
from facts.toolkit_config import ToolkitConfig
from facts.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """no-cgroups on a node whose containers have a device cgroup."""
    toolkit = judged_toolkit(node)
    if not isinstance(toolkit, ContainerToolkit):
        yield toolkit
    elif isinstance(toolkit.config, Unknown):
        yield Doubt("container toolkit", toolkit.config.reason)
    elif toolkit.config and toolkit.config.no_cgroups and unfiltered(node):
        yield NotApplicable(UNFILTERED)
    elif toolkit.config and toolkit.config.no_cgroups:
        yield from _switched_off(node, toolkit, toolkit.config)


def _switched_off(
    node: NodeState, toolkit: ContainerToolkit, config: ToolkitConfig
) -> Iterator[Outcome]:
    legacy = _legacy(node, toolkit)
    if legacy is True and guest(node) == "lxc":
        legacy = _shut(node)
    if isinstance(legacy, Unknown):
        yield Doubt("container toolkit", f"no-cgroups = true; {legacy.reason}")
    elif legacy:
        yield Finding(
            level=Level.AT_RISK,
            subject="container toolkit",
            saw=f"no-cgroups = true in {config.path}",
            want="no such line, or false, where the engine runs as root",
            why="every container that the legacy hook starts from now on is refused its GPU from"
            " the first second (NVML: Unknown Error)",
            repair=Repair.HUMAN,
            do="nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=false, then"
            " restart the containers",
            avoid="changing the cgroup driver: the device is never opened, whichever it is",
            evidence=(f"{config.path}: no-cgroups = true",),
        )


def _shut(node: NodeState) -> bool | Unknown:
    """Whether a container in this system container is refused its GPU, by the first that tells."""
    found = node.gpu_containers
    listed = () if isinstance(found, Unknown) else found.containers
    nodes = [one.nodes for one in listed if not isinstance(one.nodes, Unknown)]
    answers = [device.answer for devices in nodes for device in devices]
    told = [answer == "EPERM" for answer in answers if isinstance(answer, str)]
    return any(told) if told else Unknown(f"whether {guest(node)} keeps a device cgroup")


def _legacy(node: NodeState, toolkit: ContainerToolkit) -> bool | Unknown:
    """Whether an engine that runs as root gives GPUs through the hook here."""
    kubelet, engine = node.kubelet, node.engine
    if engine is not None:
        if isinstance(engine, Unknown):
            return engine
        if isinstance(engine.info, EngineInfo):
            if not engine.info.rootless:
                return gpus_by_hook(toolkit, engine.info)
        else:
            return engine.info
    if kubelet is None or isinstance(kubelet, Unknown):
        return kubelet or False
    cdi = runtime_is_cdi(toolkit)
    return cdi if isinstance(cdi, Unknown) else not cdi
