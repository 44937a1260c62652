"""The container toolkit is new enough for the node's cgroups and driver.

Toolkit 1.8.0 is the first that opens devices on cgroup v2: an older one fails every start of a GPU
container there. From driver 550 on, /proc/devices says `nvidia` where it said `nvidia-frontend`;
`nvidia-ctk` before 1.14.6 does not find it, so neither CDI specs nor /dev/char links can be made.

Bad:

    toolkit 1.7.0    cgroup v2
    toolkit 1.13.5   driver 550.90.07

Good:

    toolkit 1.17.8   driver 550.90.07   cgroup v2

Repair: by hand: update the toolkit's packages; the next start of a container uses them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.toolkit import toolkit_to_judge
from pyinfra_nvml.facts.cgroup import Mode
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.VERSIONS

_CGROUP_V2 = (1, 8, 0)
"""NVIDIA container toolkit, release notes 1.8.0: cgroup v2."""

_DRIVER_550 = (1, 14, 6)
"""NVIDIA container toolkit, release notes 1.14.6: the name in /proc/devices."""


def check(node: NodeState) -> Iterator[Outcome]:
    """A toolkit too old for cgroup v2 or for the driver in memory."""
    toolkit = toolkit_to_judge(node)
    if not isinstance(toolkit, ContainerToolkitState):
        yield toolkit
    elif isinstance(toolkit.version, Unknown):
        yield Undetermined("container toolkit", toolkit.version.reason)
    elif toolkit.version is None:
        yield _without_version(toolkit)
    else:
        yield from _judge(node, toolkit.version)


def _without_version(toolkit: ContainerToolkitState) -> Outcome:
    """NVIDIA's packages bring nvidia-container-cli with every hook: it would have said."""
    if isinstance(toolkit.programs, Unknown):
        return Undetermined("container toolkit", toolkit.programs.reason)
    return NotApplicable("neither nvidia-ctk nor nvidia-container-cli: not NVIDIA's toolkit")


def _judge(node: NodeState, version: str) -> Iterator[Outcome]:
    number = release(version)
    if number is None:
        yield Undetermined("container toolkit", f"no number in its version {version!r}")
    elif number < _CGROUP_V2:
        yield from _on_v2(node, version)
    elif number < _DRIVER_550:
        yield from _on_550(node, version)


def _on_v2(node: NodeState, version: str) -> Iterator[Outcome]:
    if isinstance(node.cgroup, Unknown):
        yield Undetermined("cgroups", node.cgroup.reason)
    elif node.cgroup.mode is Mode.V2:
        yield _finding(
            Level.BROKEN,
            f"toolkit {version} on cgroup v2",
            "1.8.0 or newer",
            "it knows no cgroup v2: no container with a GPU starts",
        )
    else:
        yield from _on_550(node, version)


def _on_550(node: NodeState, version: str) -> Iterator[Outcome]:
    driver = node.nvidia_driver
    loaded = driver if driver is None or isinstance(driver, Unknown) else driver.loaded
    if isinstance(loaded, Unknown):
        yield Undetermined("loaded module", loaded.reason)
    elif loaded and (release(loaded) or ()) >= (550,):
        yield _finding(
            Level.AT_RISK,
            f"toolkit {version} with driver {loaded}",
            "1.14.6 or newer with driver 550 or newer",
            "it looks for nvidia-frontend in /proc/devices, which says nvidia since 550: the next"
            " CDI spec or /dev/char link is not made (missing required device major)",
        )


def _finding(level: Level, saw: str, want: str, why: str) -> Finding:
    return Finding(
        level=level,
        subject="container toolkit",
        saw=saw,
        want=want,
        why=why,
        repair=Repair.MANUAL,
        do="update nvidia-container-toolkit and libnvidia-container (from 1.18 on the nvidia"
        " runtime uses CDI: containers started with it are then safe from a daemon-reload)",
        reference="https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/",
    )
