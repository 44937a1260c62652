"""No container holds an NVIDIA device that systemd does not know of.

The legacy hook (`docker run --gpus`) opens the device in the container's cgroup, and systemd does
not know. If the container is in a systemd scope, the next write of its device filter follows
systemd's own list: the container works today and says `Failed to initialize NVML: Unknown Error`
tomorrow. The engine's cgroup driver alone proves nothing: CDI, explicit devices and privileged
containers are safe on systemd, and a container started before a switch of the driver stays in its
scope. An unprivileged LXC guest has no device filter.

Bad:

    docker-4f66.scope   DevicePolicy=strict, no DeviceAllow for /dev/char/195:255

Good:

    docker-4f66.scope   DeviceAllow=/dev/char/195:255 rwm

Repair: bring the engine to cgroupfs (`deploys/fix_cgroup.py`), or start the container with CDI
(`--device nvidia.com/gpu=all`). Restarting the container alone changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import exposure
from pyinfra_nvml.combiners.exposure import (
    MissingRules,
    denied_devices,
    missing_rules,
    triggers,
)
from pyinfra_nvml.combiners.gpu_injection import ways
from pyinfra_nvml.combiners.guest import UNFILTERED, unfiltered
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES


def check(node: NodeState) -> Iterator[Outcome]:
    """Every container that still has its devices and would lose one at the next trigger."""
    if unfiltered(node):
        yield NotApplicable(UNFILTERED)
        return
    containers, rest = exposure.gpu_containers_seen(node)
    yield from rest
    for container in containers:
        if denied_devices(container):
            continue  # device-loss tells of it
        behind = missing_rules(container)
        if isinstance(behind, Unknown):
            yield Undetermined(f"container {container.name}", behind.reason)
        elif behind.missing:
            yield _finding(container, behind, node)


def _finding(container: GpuContainer, behind: MissingRules, node: NodeState) -> Finding:
    number = exposure.systemd_version(node)
    policy = behind.scope.device_policy if behind.scope else ""
    policy += " and the runtime's BPFProgram" if behind.scope and behind.scope.program else ""
    rules = len(behind.scope.device_allow) if behind.scope else 0
    return Finding(
        level=Level.AT_RISK,
        subject=f"container {container.name}",
        saw=f"scope DevicePolicy={policy}, no rule for {', '.join(behind.missing)}",
        want="every device of the container in the scope's rules, or no scope at all",
        why="the GPU was added behind systemd; it is gone after " + triggers(number),
        fix=("cgroupfs", "restart-container", "pod-delivery", "other-engine", "cdi"),
        target=container.id,
        avoid=_avoid(container, node),
        evidence=(
            f"cgroup {container.cgroup}",
            _asked(container, node),
            f"DevicePolicy={policy}, {rules} DeviceAllow rules, none for these nodes",
        ),
        reference="checks.md#device-exposure",
    )


def _asked(container: GpuContainer, node: NodeState) -> str:
    """How it asked, by Docker, and how the GPU came in, by its spec."""
    spec = None if isinstance(container.spec, Unknown) else container.spec
    told = [way.value for way in container.requests] + list(ways(container, node.container_toolkit))
    words = ", ".join(dict.fromkeys(told)) or "unknown"
    return f"asked with {words}" + (f"; pod {spec.pod}" if spec and spec.pod else "")


def _avoid(container: GpuContainer, node: NodeState) -> str:
    moved = container.engine != "docker" or _driver(node) == "cgroupfs"
    if moved:
        return "more capabilities do not help"
    return "a `docker restart` of the container alone changes nothing; nor do more capabilities"


def _driver(node: NodeState) -> str:
    info = node.engine_info
    return "" if info is None or isinstance(info, Unknown) else info.cgroup_driver
