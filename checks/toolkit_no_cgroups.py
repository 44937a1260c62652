"""The container toolkit opens the device cgroup of the containers it serves.

With `no-cgroups = true` in config.toml the legacy hook makes the device nodes in the container and
leaves its device cgroup closed: `Failed to initialize NVML: Unknown Error` from the first second.
It is meant for rootless engines, which have no device cgroup, and is often left over on others. In
a system container (LXC) it is usual too: an unprivileged one may not write device filters at all.
There it is judged by whether a running container can open its device.

Bad:

    [nvidia-container-cli]
    no-cgroups = true

Good:

    [nvidia-container-cli]
    #no-cgroups = false

Repair: by hand: take the line out (`nvidia-ctk config --in-place --set
nvidia-container-cli.no-cgroups=false`) and restart the containers.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.guest import UNFILTERED, unfiltered
from pyinfra_nvml.combiners.no_cgroups import refuses
from pyinfra_nvml.combiners.toolkit import toolkit_to_judge
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.toolkit_config import ToolkitConfig
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """no-cgroups on a node whose containers have a device cgroup."""
    toolkit = toolkit_to_judge(node)
    if not isinstance(toolkit, ContainerToolkitState):
        yield toolkit
    elif isinstance(toolkit.config, Unknown):
        yield Undetermined("container toolkit", toolkit.config.reason)
    elif toolkit.config and toolkit.config.no_cgroups and unfiltered(node):
        yield NotApplicable(UNFILTERED)
    elif toolkit.config and toolkit.config.no_cgroups:
        yield from _switched_off(node, toolkit.config)


def _switched_off(node: NodeState, config: ToolkitConfig) -> Iterator[Outcome]:
    refused = refuses(node)
    if isinstance(refused, Unknown):
        yield Undetermined("container toolkit", f"no-cgroups = true; {refused.reason}")
    elif refused:
        yield Finding(
            level=Level.AT_RISK,
            subject="container toolkit",
            saw=f"no-cgroups = true in {config.path}",
            want="no such line, or false, where the engine runs as root",
            why="every container that the legacy hook starts from now on is refused its GPU from"
            " the first second (NVML: Unknown Error)",
            fix=("toolkit-cgroups",),
            avoid="changing the cgroup driver: the device is never opened, whichever it is",
            evidence=(f"{config.path}: no-cgroups = true",),
        )
