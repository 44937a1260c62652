"""NVIDIA's hardware on this node's PCI bus, and the device nodes to reach it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# stat: mode in octal, owner, group, major and minor in hex, name (GNU and busybox alike).
_LIST = r"""
set --
for node in /dev/nvidia* /dev/nvidia-caps/* /dev/nvidia-caps-imex-channels/*; do
  [ ! -c "$node" ] || set -- "$@" "$node"
done
[ $# = 0 ] || stat -c 'node %a %u %g %t %T %n' "$@"
[ -d /sys/bus/pci/devices ] && echo bus
for vendor in $(grep -lx 0x10de /sys/bus/pci/devices/*/vendor 2>/dev/null); do
  slot=${vendor%/vendor}
  class='' device='' driver=''
  read -r class <"$slot/class"
  read -r device <"$slot/device"
  [ -e "$slot/driver" ] && cd -P "$slot/driver" && driver=$PWD
  echo "pci ${slot##*/} $class $device  ${driver##*/}"
done
true
"""


@dataclass(frozen=True)
class DeviceNode(Value):
    """A character device; ``mode`` in octal.

    .. code:: python

        DeviceNode("/dev/nvidiactl", mode="666", uid=0, gid=0, major=195, minor=255)
    """

    path: str
    mode: str
    uid: int
    gid: int
    major: int
    minor: int


@dataclass(frozen=True)
class PciDevice(Value):
    """A device of NVIDIA (vendor 0x10de); ``driver`` is the one bound to it, if any.

    .. code:: python

        PciDevice("0000:3b:00.0", kind="0x030200", device="0x20f1", driver="nvidia")
    """

    slot: str
    kind: str
    device: str
    driver: str | None

    @property
    def gpu(self) -> bool:
        """Whether it is a display or 3D controller (PCI class 03), so neither sound nor bridge."""
        return self.kind.startswith("0x03")


@dataclass(frozen=True)
class NvidiaDevicesState(Value):
    """Device nodes and PCI devices; ``bus`` is false where the node shows no PCI bus at all."""

    nodes: tuple[DeviceNode, ...]
    pci: tuple[PciDevice, ...]
    bus: bool

    @property
    def gpus(self) -> tuple[PciDevice, ...]:
        """The GPUs on the PCI bus: no bridges, no NVSwitches, no audio."""
        return tuple(device for device in self.pci if device.gpu)


class NvidiaDevices(Source[NvidiaDevicesState]):
    """NVIDIA's devices.

    Sources: /dev, /sys/bus/pci/devices/*/{vendor,class,device,driver} (Linux,
    Documentation/ABI/testing/sysfs-bus-pci). Needs no root.
    """

    probes = (Probe("nvidia_devices.list", _LIST),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaDevicesState | Unknown:
        answer = section(sections, "nvidia_devices.list")
        if answer.trouble:
            return answer.trouble
        for line in answer.out.splitlines():
            if line and line != "bus" and not _NODE.match(line) and not _PCI.match(line):
                return Unknown(f"{answer.name}: not understood: {line[:80]!r}")
        return NvidiaDevicesState(
            nodes=tuple(_node(found) for found in _NODE.finditer(answer.out)),
            pci=tuple(PciDevice(f[1], f[2], f[3], f[4] or None) for f in _PCI.finditer(answer.out)),
            bus="bus" in answer.out.splitlines(),
        )


Devices = NvidiaDevices  # the name before 0.2


_NODE = re.compile(
    r"^node ([0-7]+) (\d{1,10}) (\d{1,10}) ([0-9a-f]{1,8}) ([0-9a-f]{1,8}) (/dev/\S+)$",
    re.MULTILINE,
)
_PCI = re.compile(r"^pci (\S+) (0x[0-9a-f]+) (0x[0-9a-f]+) *(\S*)$", re.MULTILINE)


def _node(found: re.Match[str]) -> DeviceNode:
    mode, uid, gid, major, minor, path = found.groups()
    return DeviceNode(path, mode, int(uid), int(gid), int(major, 16), int(minor, 16))
