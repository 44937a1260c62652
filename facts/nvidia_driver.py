"""NVIDIA's driver on this node: kernel module, libraries, packages, devices, and their log."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.nvidia_devices import Devices, NvidiaDevices
from pyinfra_nvml.facts.nvidia_library import ManagementLibrary, NvidiaLibrary
from pyinfra_nvml.facts.nvidia_log import KernelLog, NvidiaLog
from pyinfra_nvml.facts.nvidia_module import Module, NvidiaModule
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackages, Packages
from pyinfra_nvml.facts.probe import Sections
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

ABSENT = "no NVIDIA driver, device or library on this node"
"""What is said of a node whose driver is ``None``."""


@dataclass(frozen=True)
class NvidiaDriver(Value):
    """All parts of the driver, each as its own fact gives it.

    .. code:: python

        NvidiaDriver(module=NvidiaModule(loaded="550.90.07", ...),
                     libraries=NvidiaLibrary(resolved=Library(..., version="550.107.02"), ...),
                     packages=NvidiaPackages(...), devices=NvidiaDevices(...), log=NvidiaLog(...))
    """

    module: NvidiaModule | Unknown
    libraries: NvidiaLibrary | Unknown
    packages: NvidiaPackages | Unknown
    devices: NvidiaDevices | Unknown
    log: NvidiaLog | Unknown

    @property
    def loaded(self) -> str | Unknown | None:
        """The version of the module in memory."""
        return self.module if isinstance(self.module, Unknown) else self.module.loaded

    @property
    def on_disk(self) -> str | Unknown | None:
        """The version of the module that the running kernel would load next."""
        return self.module if isinstance(self.module, Unknown) else self.module.on_disk

    @property
    def library(self) -> str | Unknown | None:
        """The version of libnvidia-ml: the node's, or the driver container's where that is."""
        if isinstance(self.libraries, Unknown):
            return self.libraries
        root = self.libraries.root
        return root.version if root and root.version else self.libraries.version


class Driver(Source[NvidiaDriver | None]):
    """NVIDIA's driver, or ``None`` where the node has no trace of it, nor of its hardware.

    Sources: those of facts.nvidia_module, nvidia_library, nvidia_packages, nvidia_devices and
    nvidia_log.
    """

    probes = (
        *Module.probes,
        *ManagementLibrary.probes,
        *Packages.probes,
        *Devices.probes,
        *KernelLog.probes,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaDriver | Unknown | None:
        driver = NvidiaDriver(
            module=Module.judged(sections),
            libraries=ManagementLibrary.judged(sections),
            packages=Packages.judged(sections),
            devices=Devices.judged(sections),
            log=KernelLog.judged(sections),
        )
        return None if _absent(driver) else driver


def seen(driver: NvidiaDriver) -> bool:
    """Whether a part of the driver was seen, not only parts that could not be told."""
    module, libraries, devices = driver.module, driver.libraries, driver.devices
    packages = driver.packages
    return any(
        (
            isinstance(driver.loaded, str),
            not isinstance(module, Unknown) and isinstance(module.on_disk, str),
            not isinstance(libraries, Unknown) and bool(libraries.files or libraries.root),
            not isinstance(packages, Unknown) and bool(packages.known),
            not isinstance(devices, Unknown) and bool(devices.nodes or devices.gpus),
        )
    )


def _absent(driver: NvidiaDriver) -> bool:
    """Whether every part was asked and has nothing; what could not be told is not nothing."""
    module, libraries, packages = driver.module, driver.libraries, driver.packages
    if isinstance(module, Unknown) or isinstance(libraries, Unknown):
        return False
    if isinstance(packages, Unknown) or isinstance(driver.devices, Unknown):
        return False
    on_disk = isinstance(module.disk, Unknown) or any(m.version for m in module.disk)
    lists = (packages.dpkg, packages.rpm, packages.dkms)
    return not (
        module.loaded
        or on_disk
        or libraries.files
        or libraries.root
        or any(lists)
        or driver.devices.nodes
        or driver.devices.gpus
    )
