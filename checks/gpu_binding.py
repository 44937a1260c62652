"""Every NVIDIA GPU of the node is bound to a driver that its owner chose.

With the nvidia module loaded, a GPU that is bound to nouveau or to nothing is missing from
nvidia-smi and from every container that asks for all GPUs. A GPU bound to vfio-pci was handed to a
virtual machine on purpose. A node without the module is the subject of driver-skew.

Bad:

    0000:1b:00.0   nvidia
    0000:3b:00.0   no driver

Good:

    0000:1b:00.0   nvidia
    0000:3b:00.0   vfio-pci

Repair: by hand: the kernel log says why the driver left the GPU (Xid, "rm_init_adapter failed", or
that another branch or kind of the module drives it).
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.loaded_driver import loaded_driver
from pyinfra_nvml.combiners.unsupported_gpu import unsupported_gpu, why_ignored
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_devices import PciDevice
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_TAKEN = "nouveau"
"""Every other driver (vfio-pci, its vendor variants, pciback) is bound by somebody on purpose."""


def check(node: NodeState) -> Iterator[Outcome]:
    """GPUs that the loaded module does not drive and no guest has."""
    driver = loaded_driver(node)
    if not isinstance(driver, NvidiaDriverState):
        yield driver
    elif isinstance(driver.devices, Unknown):
        yield Undetermined("GPUs", driver.devices.reason)
    elif not driver.devices.gpus:
        yield NotApplicable("no NVIDIA GPU on a PCI bus that this node shows")
    else:
        for gpu in driver.devices.gpus:
            if gpu.driver in (None, _TAKEN) and not _virtual(gpu, driver.devices.gpus):
                ignored = unsupported_gpu(driver, gpu.slot)
                why = why_ignored(driver, ignored) if ignored else ""
                yield _finding(gpu, len(driver.devices.gpus), why)


def _virtual(gpu: PciDevice, others: tuple[PciDevice, ...]) -> bool:
    """Whether it is a part of another GPU (SR-IOV, vGPU): only these share a bus with one."""
    bus = gpu.slot.rpartition(":")[0]
    same = (other for other in others if other.slot.rpartition(":")[0] == bus)
    return gpu.driver is None and any(other.driver for other in same)


def _finding(gpu: PciDevice, count: int, left: str) -> Finding:
    holder = f"bound to {gpu.driver}" if gpu.driver else "bound to no driver"
    why = "programs and containers that ask for all GPUs do not get this one"
    if left and gpu.driver != _TAKEN:
        why = left
    return Finding(
        level=Level.AT_RISK,
        subject=f"GPU {gpu.slot}",
        saw=f"{holder}, one of {count} GPUs",
        want="nvidia, or vfio-pci for a guest",
        why=why,
        fix=("other-module",) if left and gpu.driver != _TAKEN else ("unbound-gpu",),
        target=gpu.slot,
    )
