"""The NVSwitches of a node: those on its PCI bus, those that the bus does not show, and none."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_devices import NvidiaDevicesState, PciDevice
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.unknown import Unknown

_SWITCH = "0x0680"
"""PCI class of an NVSwitch: bridge, other (Ampere and Hopper; later ones are not on the bus)."""

_FIRST_HIDDEN = 0x2900
_HIDDEN = (range(_FIRST_HIDDEN, 0x2980), range(0x3180, 0x3200))
"""PCI ids of GB100 and GB110 (NVIDIA/gpu-admin-tools, devid_chips.py; B200 is 2901, B300 3182):
their NVSwitches are on InfiniBand. GB200 (2941) and GB300 have ids among them."""

_BOARD = 8
"""GPUs of an HGX board. A guest with fewer of them has its fabric manager on the host (Fabric
Manager user guide, "Shared NVSwitch Virtualization Model")."""


@dataclass(frozen=True)
class NvSwitches:
    """Those on the bus, and how many GPUs are there whose NVSwitches it does not show.

    Both are of what is not given to a guest (vfio-pci).

    .. code:: python

        NvSwitches(on_bus=0, hiding=8)
    """

    on_bus: int
    hiding: int

    def __bool__(self) -> bool:
        return bool(self.on_bus or self.hiding)

    @property
    def told(self) -> str:
        """Their number in words, or that they are hidden."""
        return f"{self.on_bus or 'hidden'} NVSwitches"

    @property
    def whole(self) -> bool:
        """Whether a board of them is this node's, so that its fabric manager runs here."""
        return bool(self.on_bus) or self.hiding >= _BOARD


def nvswitches(node: NodeState) -> NvSwitches:
    """Those of this node."""
    devices = _devices(node)
    own = [one for one in devices.pci if one.driver != "vfio-pci"] if devices else []
    return NvSwitches(
        on_bus=sum(one.kind.startswith(_SWITCH) for one in own),
        hiding=0 if _grace(node) else sum(one.gpu and _hides(one) for one in own),
    )


def impossible(node: NodeState) -> bool:
    """Whether no NVSwitch can be here: cards with a display, chips before Blackwell, whose
    NVSwitches would be on the bus, and Grace's boards."""
    devices = _devices(node)
    return all(
        gpu.kind.startswith("0x0300")
        or int(gpu.device, 16) < _FIRST_HIDDEN
        or (_grace(node) and _hides(gpu))
        for gpu in (devices.gpus if devices else ())
    )


def _devices(node: NodeState) -> NvidiaDevicesState | None:
    driver = node.nvidia_driver
    devices = driver.devices if isinstance(driver, NvidiaDriverState) else None
    return None if isinstance(devices, Unknown) else devices


def _grace(node: NodeState) -> bool:
    """Whether its CPU is Grace, if its GPUs are GB200's: the rack has the switches, and their own
    system runs them (Azure/AgentBaker#8839)."""
    machine = node.machine
    return not isinstance(machine, Unknown) and machine.architecture == "aarch64"


def _hides(device: PciDevice) -> bool:
    return any(int(device.device, 16) in chips for chips in _HIDDEN)
