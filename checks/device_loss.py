"""No container has lost an NVIDIA device that it was given.

A container whose device cgroup refuses its own /dev/nvidiactl prints `Failed to initialize NVML:
Unknown Error`; nvidia-smi on the node still works. With the systemd cgroup driver and the legacy
hook the device is opened behind systemd, and the next write of the scope's device filter takes it
away. The audit opens the device node from within the container's cgroup, so no program of the image
is needed.

Bad:

    container trainer   nvidiactl EPERM, scope DevicePolicy=strict, no rule for 195:255

Good:

    container trainer   nvidiactl OK

Repair: `docker restart NAME` gives the device back until the next trigger. The cure is the driver
cgroupfs (`deploys/fix_cgroup.py`), or devices that systemd knows of (CDI). Pods are recreated by
their owner; the Docker cure does harm on a Kubernetes node.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import exposure
from pyinfra_nvml.combiners.exposure import denied_devices, missing_rules
from pyinfra_nvml.combiners.no_cgroups import switched_off
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES


def check(node: NodeState) -> Iterator[Outcome]:
    """Every container whose NVIDIA nodes are refused now."""
    containers, rest = exposure.gpu_containers_seen(node)
    yield from rest
    for container in containers:
        yield from _judge(container, node)


def _judge(container: GpuContainer, node: NodeState) -> Iterator[Outcome]:
    subject = f"container {container.name}"
    if isinstance(container.nodes, Unknown):
        yield Undetermined(subject, container.nodes.reason)
        return
    for device in container.nodes:
        if isinstance(device.answer, Unknown):
            yield Undetermined(f"{subject}, /dev/{device.name}", device.answer.reason)
    if denied_devices(container):
        yield _finding(subject, container, node)


def _finding(subject: str, container: GpuContainer, node: NodeState) -> Finding:
    refused = ", ".join(f"/dev/{name}" for name in denied_devices(container))
    why, fix = _cause(container, node)
    return Finding(
        level=Level.BROKEN,
        subject=subject,
        saw=f"{refused} refused (EPERM) from within its cgroup",
        want="its devices reachable",
        why=why,
        fix=fix,
        target=container.id,
        avoid="more capabilities, libraries in the image or another driver install do not help",
        evidence=_evidence(container),
        reference="checks.md#device-loss",
    )


def _cause(container: GpuContainer, node: NodeState) -> tuple[str, tuple[str, ...]]:
    """Why it was refused its devices, and what mends that."""
    behind = missing_rules(container)
    if container.pod:
        return "the pod's device filter was rewritten without the device", ("pod-delivery",)
    if switched_off(node):
        return (
            "the container toolkit never opens the device: no-cgroups = true in its config.toml",
            ("toolkit-cgroups", "restart-container"),
        )
    if container.engine != "docker":
        return (
            "the device was added behind systemd and the runtime, or its filter was written anew",
            ("other-engine",),
        )
    if isinstance(behind, Unknown):
        return (
            f"its device filter was rewritten; by whom could not be told: {behind.reason}",
            ("restart-container",),
        )
    if not behind.missing:
        return "its device filter was rewritten, by `docker update` or by hand", (
            "restart-container",
        )
    return (
        "the device was added behind systemd, and systemd has since written the filter of its"
        f" scope{_when(node)}",
        ("cgroupfs", "restart-container", "cdi"),
    )


def _when(node: NodeState) -> str:
    if node.systemd_manager is None or isinstance(node.systemd_manager, Unknown):
        return ""
    reloads = node.systemd_manager.reloads
    if isinstance(reloads, Unknown) or not reloads:
        return ""
    return f" (last daemon-reload or re-execution {reloads[-1]})"


def _evidence(container: GpuContainer) -> tuple[str, ...]:
    lines = [f"cgroup {container.cgroup}"] if isinstance(container.cgroup, str) else []
    if not isinstance(container.nodes, Unknown):
        lines += [
            f"/dev/{node.name} {node.major}:{node.minor} {node.answer}"
            for node in container.nodes
            if isinstance(node.answer, str)
        ]
    behind = missing_rules(container)
    if not isinstance(behind, Unknown) and behind.scope:
        lines.append(f"DevicePolicy={behind.scope.device_policy}")
        lines += ["BPFProgram=device: (crun's)"] if behind.scope.program else []
        lines.append(f"no DeviceAllow for {', '.join(behind.missing) or 'none of them'}")
    return tuple(lines)
