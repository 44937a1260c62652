"""Nodes that are containers themselves (LXC, LXD): driver and device cgroup are the host's."""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.driver_evidence import evidence
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.driver_versions import same
from pyinfra_nvml.model.finding import Finding, Level
from pyinfra_nvml.model.unknown import Unknown


def guest(node: NodeState) -> str:
    """The manager of the container that this node is, empty where it is none."""
    container = None if isinstance(node.machine, Unknown) else node.machine.container
    return container if isinstance(container, str) else ""


def unfiltered(node: NodeState) -> bool:
    """Whether no device filter can be set in here: root is another user on the host.

    The kernel takes a device filter from the first user namespace alone (bpf(2), CAP_BPF; v1:
    devices.allow wants CAP_SYS_ADMIN there), so runc and systemd leave it out, and nothing is lost.
    """
    return not isinstance(node.machine, Unknown) and node.machine.unprivileged is True


UNFILTERED = "an unprivileged system container: no device filter can be set in here"


def hosts_module(node: NodeState) -> bool:
    """Whether the module in memory is the host's: this container has none of its own on disk."""
    driver = node.nvidia_driver
    module = driver.module if isinstance(driver, NvidiaDriverState) else None
    if not guest(node) or module is None or isinstance(module, Unknown):
        return False
    disk = module.disk
    return not isinstance(disk, Unknown) and not any(kernel.path for kernel in disk)


def on_host(node: NodeState) -> str:
    """The beginning of what is to be done on the host of this node; empty where it has none."""
    manager = guest(node)
    return f"on the host of this container ({manager}): " if manager else ""


def in_guest(
    driver: NvidiaDriverState, loaded: str, library: str, manager: str
) -> Iterator[Finding]:
    """The skew between the host's module and the library in this container."""
    if same(loaded, library):
        return
    yield Finding(
        level=Level.BROKEN,
        subject="driver",
        saw=f"module {loaded} of the host, libnvidia-ml {library} in this container ({manager})",
        want=f"libnvidia-ml {loaded} in here",
        why="the module is the host's, and NVML refuses one of another version",
        fix=("guest-libraries",),
        avoid="a reboot of this container: it loads no module",
        evidence=evidence(driver),
    )
