"""NVIDIA's fabric manager on this node, which joins the GPUs of NVSwitch machines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.nvidia_packages import NvidiaPackages, Package
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# A process name is cut to 15 characters (proc(5), /proc/pid/comm); in a driver container it is
# another process of the node, with no unit.
_ASK = """
if command -v nv-fabricmanager >/dev/null; then nv-fabricmanager --version; fi
grep -q '^[^:]*:nv-fabricmanage$' "$COMMS" && echo running
if [ -d /run/systemd/system ]; then
  systemctl show nvidia-fabricmanager.service -p LoadState,ActiveState,UnitFileState
fi
"""

_NAMES = re.compile(r"^(nvidia-fabric-?manager(-\d+)?|cuda-drivers-fabricmanager(-\d+)?)$")


@dataclass(frozen=True)
class FabricManagerState(Value):
    """The fabric manager: its packages, the program's version, its unit, whether it runs.

    ``active`` and ``enabled`` are systemd's words for its unit, ``None`` where it has none.

    .. code:: python

        FabricManagerState(version="550.127.05", packages=(Package("dpkg",
                           "nvidia-fabricmanager-550", "550.127.05-1", "ii"),),
                           active="failed", enabled="enabled", running=False)
    """

    version: str | Unknown | None
    packages: tuple[Package, ...] | Unknown
    active: str | Unknown | None
    enabled: str | Unknown | None
    running: bool | Unknown


class FabricManager(Source[FabricManagerState | None]):
    """The fabric manager, or ``None`` where none is installed and none runs.

    Sources: ``nv-fabricmanager --version``, /proc, systemctl(1) ``show``, the package managers.
    Needs no root.
    """

    probes = (
        Probe("fabric_manager.ask", _ASK, lines=r".*version|running$|\w+="),
        *NvidiaPackages.probes,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> FabricManagerState | Unknown | None:
        answer = section(sections, "fabric_manager.ask")
        running = "running" in answer.out.splitlines()
        load = _shown(answer, "LoadState")
        loaded = load == "loaded"
        unit = load if isinstance(load, Unknown) else None
        state = FabricManagerState(
            version=_version(answer),
            packages=_packages(sections),
            active=_shown(answer, "ActiveState") if loaded else unit,
            enabled=_shown(answer, "UnitFileState") if loaded else unit,
            running=running or answer.trouble or False,
        )
        if state.version or state.packages or loaded or running:
            return state
        return answer.trouble


def _version(answer: Section) -> str | Unknown | None:
    # "Fabric Manager version is : 550.127.05"
    found = re.search(r"version is\s*:\s*(\d+(?:\.\d+)+)\s*$", answer.out, re.MULTILINE | re.I)
    if found:
        return found[1]
    if re.search(r"version is", answer.out, re.I):
        return Unknown("nv-fabricmanager --version: no number in its answer")
    return answer.trouble


def _shown(answer: Section, name: str) -> str | Unknown | None:
    found = re.search(rf"^{name}=(\S+)$", answer.out, re.MULTILINE)
    return found[1] if found else answer.trouble


def _packages(sections: Sections) -> tuple[Package, ...] | Unknown:
    packages = NvidiaPackages.judged(sections)
    if isinstance(packages, Unknown):
        return packages
    found = tuple(each for each in packages.known if _NAMES.match(each.name.partition(":")[0]))
    unread = (part for part in (packages.dpkg, packages.rpm) if isinstance(part, Unknown))
    return found or next(unread, ())
