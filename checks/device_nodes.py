"""NVIDIA's device nodes are there, with the numbers and modes that programs can use.

The module's parameters are decimal: NVreg_DeviceFileMode=666 is octal 1232, which only root may
read: every program of another user fails. What was meant is 0666 (438). nvidia-uvm may get another
major number at each boot; a node from before leads nowhere. nvidia-modprobe makes a missing node
when a program of root asks; until then containers that name it (`--device`, CDI) do not start. A
container keeps the nodes it was made with: once nvidia_uvm is unloaded, or comes back with another
number, its programs go on without CUDA (some use the CPU and say little).

Bad:

    /dev/nvidiactl    mode 1232
    /dev/nvidia-uvm   not there, nvidia_uvm loaded

Good:

    /dev/nvidiactl    mode 666
    /dev/nvidia-uvm   mode 666, 509:0

Repair: by hand: `nvidia-modprobe -c0 -u` makes the nodes, a line in modprobe.d sets the mode. A
node that is a container itself (LXC, LXD) gets its nodes from its host.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.driver_state import contained
from pyinfra_nvml.combiners.guest import guest
from pyinfra_nvml.combiners.loaded_driver import loaded_driver
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_devices import DeviceNode, NvidiaDevicesState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_params import NvidiaParamsState
from pyinfra_nvml.model.finding import Area, Finding, Level, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_NODES = ("guest-devices", "make-nodes")

_DECIMAL_666 = "1232"
"""666 written as if it were octal: 0o1232 == 666."""


def check(node: NodeState) -> Iterator[Outcome]:
    """Modes, numbers, and nodes that are missing while their module is loaded."""
    driver = loaded_driver(node)
    if not isinstance(driver, NvidiaDriverState):
        yield driver
    elif isinstance(driver.devices, Unknown):
        yield Undetermined("device nodes", driver.devices.reason)
    else:
        yield from _judge(node, driver, driver.devices)


def _judge(
    node: NodeState, driver: NvidiaDriverState, devices: NvidiaDevicesState
) -> Iterator[Outcome]:
    params = node.nvidia_params
    yield from _modes(devices, params)
    paths = {device.path: device for device in devices.nodes}
    # The driver container has a /dev of its own; a guest's GPU has no node here.
    if contained(driver) or (devices.gpus and all(g.driver == "vfio-pci" for g in devices.gpus)):
        return
    if not paths and not isinstance(node.machine, Unknown) and node.machine.container:
        return  # it shares a kernel whose GPUs it was not given
    if "/dev/nvidiactl" not in paths:
        yield _missing("/dev/nvidiactl", "the nvidia module is loaded", bool(paths))
    yield from _in_containers(node)
    if _tegra(node, devices):
        return
    if isinstance(params, Unknown):
        yield Undetermined("nvidia_uvm", params.reason)
    elif params is not None and isinstance(params.uvm, Unknown):
        yield Undetermined("nvidia_uvm", params.uvm.reason)
    elif (
        params is not None
        and not params.uvm
        and (node.container_toolkit or guest(node))
        and "/dev/nvidiactl" in paths
    ):
        if "/dev/nvidia-uvm" not in paths:
            # Nothing in a guest makes the node at the first use: its host did not give it.
            yield _missing("/dev/nvidia-uvm", "nvidia_uvm is not loaded", bool(guest(node)))
    elif params is not None and params.uvm:
        yield from _uvm(paths.get("/dev/nvidia-uvm"), params, bool(paths))


def _tegra(node: NodeState, devices: NvidiaDevicesState) -> bool:
    """Whether its one GPU is Tegra's (Jetson Orin): CUDA reaches that by nvgpu, without nvidia_uvm
    (the nvidia module drives the display)."""
    toolkit = node.container_toolkit
    return isinstance(toolkit, ContainerToolkitState) and toolkit.tegra is True and not devices.gpus


def _modes(
    devices: NvidiaDevicesState, params: NvidiaParamsState | Unknown | None
) -> Iterator[Finding]:
    wrong = [device.path for device in devices.nodes if device.mode == _DECIMAL_666]
    given = params.number("DeviceFileMode") if isinstance(params, NvidiaParamsState) else None
    if wrong or given == int(_DECIMAL_666, 8):
        yield Finding(
            level=Level.BROKEN,
            subject="device nodes",
            saw=f"mode {_DECIMAL_666} (decimal 666) on"
            f" {', '.join(wrong) or 'every node made from now on'}",
            want="mode 666, or what you chose, written in octal: NVreg_DeviceFileMode=0666",
            why="only root can open them with that mode: programs and containers of other users"
            " fail",
            fix=("device-mode",),
            avoid="privileged containers",
            evidence=tuple(f"{path} {_DECIMAL_666}" for path in wrong),
        )


def _missing(path: str, proof: str, others: bool) -> Finding:
    """Where no node is there at all, nobody has used the GPU since the boot: that is usual."""
    return Finding(
        level=Level.AT_RISK if others else Level.ADVICE,
        subject=path,
        saw=f"not there; {proof}",
        want=path,
        why="containers that name it (--device, CDI) do not start, and CUDA finds no device, until"
        " a program of root makes it",
        fix=_NODES,
        target=path,
    )


def _uvm(device: DeviceNode | None, params: NvidiaParamsState, others: bool) -> Iterator[Finding]:
    if device is None:
        yield _missing("/dev/nvidia-uvm", "nvidia_uvm is loaded", others)
    elif params.uvm_major is not None and device.major != params.uvm_major:
        yield Finding(
            level=Level.BROKEN,
            subject=device.path,
            saw=f"major {device.major}",
            want=f"major {params.uvm_major}, as /proc/devices says",
            why="the node is from another boot and leads nowhere: CUDA fails",
            fix=_NODES,
            target=device.path,
        )


def _in_containers(node: NodeState) -> Iterator[Finding]:
    """Nodes of running containers behind which no driver is, while the nvidia module is loaded."""
    found = node.gpu_containers
    for one in () if isinstance(found, Unknown) else found.containers:
        nodes = () if isinstance(one.nodes, Unknown) else one.nodes
        dead = [device for device in nodes if device.answer == "ENXIO" and not device.capability]
        if dead:
            names = ", ".join(
                f"/dev/{device.name} {device.major}:{device.minor}" for device in dead
            )
            yield Finding(
                level=Level.BROKEN,
                subject=f"container {one.name}",
                saw=f"{names}: no such device (ENXIO)",
                want="a driver behind each of its nodes",
                why="the module was unloaded, or loaded again with another number: CUDA fails in"
                " this container, or its program turns to the CPU",
                fix=("recreate-with-nodes",),
                target=one.id,
                avoid="changing the cgroup driver: nobody refused the device",
            )
