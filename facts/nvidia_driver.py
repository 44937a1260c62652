"""NVIDIA's driver on this node: kernel module, libraries, packages, devices, and their log."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.nvidia_devices import NvidiaDevices, NvidiaDevicesState
from pyinfra_nvml.facts.nvidia_library import NvidiaLibrary, NvidiaLibraryState
from pyinfra_nvml.facts.nvidia_log import NvidiaLog, NvidiaLogState
from pyinfra_nvml.facts.nvidia_module import NvidiaModule, NvidiaModuleState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackages, NvidiaPackagesState
from pyinfra_nvml.facts.probe import Sections
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

ABSENT = "no NVIDIA driver, device or library on this node"
"""What is said of a node whose driver is ``None``."""


@dataclass(frozen=True)
class NvidiaDriverState(Value):
    """All parts of the driver, each as its own fact gives it.

    .. code:: python

        NvidiaDriverState(module=NvidiaModuleState(loaded="550.90.07", ...),
                          libraries=NvidiaLibraryState(resolved=Library(...), ...),
                          packages=NvidiaPackagesState(...), devices=NvidiaDevicesState(...),
                          log=NvidiaLogState(...))
    """

    module: NvidiaModuleState | Unknown
    libraries: NvidiaLibraryState | Unknown
    packages: NvidiaPackagesState | Unknown
    devices: NvidiaDevicesState | Unknown
    log: NvidiaLogState | Unknown

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


class NvidiaDriver(Source[NvidiaDriverState | None]):
    """NVIDIA's driver, or ``None`` where the node has no trace of it, nor of its hardware.

    Sources: those of facts.nvidia_module, nvidia_library, nvidia_packages, nvidia_devices and
    nvidia_log.
    """

    probes = (
        *NvidiaModule.probes,
        *NvidiaLibrary.probes,
        *NvidiaPackages.probes,
        *NvidiaDevices.probes,
        *NvidiaLog.probes,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaDriverState | Unknown | None:
        driver = NvidiaDriverState(
            module=NvidiaModule.judged(sections),
            libraries=NvidiaLibrary.judged(sections),
            packages=NvidiaPackages.judged(sections),
            devices=NvidiaDevices.judged(sections),
            log=NvidiaLog.judged(sections),
        )
        return None if _absent(driver) else driver


Driver = NvidiaDriver  # the name before 0.2


def seen(driver: NvidiaDriverState) -> bool:
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


def _absent(driver: NvidiaDriverState) -> bool:
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
