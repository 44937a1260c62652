"""NVIDIA's kernel module on this node: the loaded one, and those on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    file_texts,
    framed_files,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

_LOADED = "/sys/module/nvidia/version"
_PROC = "/proc/driver/nvidia/version"

# A loaded module shows in both /sys/module and /proc/driver; a container may hide the first.
# What modprobe would load is what depmod listed. The module of the driver is nvidia.ko, on Debian
# nvidia-current.ko or nvidia-tesla-*.ko; its siblings (uvm, drm ...) carry the same version. NixOS
# keeps the modules of the next boot under /run/current-system.
_ON_DISK = r"""
read -r release </proc/sys/kernel/osrelease || release=$(uname -r)
echo "running $release"
[ -d /sys/module ] || [ -d /proc/driver ] && echo asked
for index in /lib/modules/*/modules.dep \
  /run/current-system/kernel-modules/lib/modules/*/modules.dep; do
  [ -e "$index" ] || continue
  tree=${index%/modules.dep}
  kernel=${tree##*/}
  echo "kernel $kernel"
  for image in "/boot/vmlinuz-$kernel" "$tree/vmlinuz"; do [ -e "$image" ] && echo image; done
  for path in $(grep -oE '^[^:]*/nvidia(-(current|tesla|legacy)[^/:]*)?\.ko[^:]*' "$index"); do
    case $path in
      *uvm.ko* | *modeset.ko* | *drm.ko* | *peermem.ko*) continue ;;
      /*) ;;
      *) path=$tree/$path ;;
    esac
    echo "module $path"
    modinfo -F version "$path" | sed 's/^/version /'
    break
  done
done
true
"""

# nv-procfs.c and utils.mk of NVIDIA/open-gpu-kernel-modules. The GCC line has numbers too.
_NVRM = re.compile(r"^NVRM version:.*?Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+){1,3})\b", re.M)


_NOT_UNDERSTOOD = Unknown("nvidia_module.disk: its answer was not understood")


class Flavour(str, Enum):
    """Which of NVIDIA's two kernel modules is loaded."""

    OPEN = "open"
    PROPRIETARY = "proprietary"


@dataclass(frozen=True)
class DiskModule(Value):
    """The nvidia module of one installed kernel; ``version`` is ``None`` where it has none.

    ``bootable`` is whether the kernel's image is still there (/boot, or beside its modules).

    .. code:: python

        DiskModule("6.8.0-107-generic", "550.107.02",
                   "/lib/modules/6.8.0-107-generic/updates/dkms/nvidia.ko.zst", bootable=True)
    """

    kernel: str
    version: str | Unknown | None
    path: str | None
    bootable: bool = False


@dataclass(frozen=True)
class NvidiaModuleState(Value):
    """The kernel's half of the driver.

    ``loaded`` is the version in memory (``None``: not loaded). ``kernel`` is the running release,
    ``disk`` the module of every kernel installed.

    .. code:: python

        NvidiaModuleState(loaded="550.90.07", flavour=Flavour.OPEN, kernel="6.8.0-106-generic",
                          disk=(DiskModule("6.8.0-106-generic", "550.107.02", ...),))
    """

    loaded: str | Unknown | None
    flavour: Flavour | Unknown | None
    kernel: str | Unknown
    disk: tuple[DiskModule, ...] | Unknown

    @property
    def on_disk(self) -> str | Unknown | None:
        """The version that the running kernel would load next."""
        if isinstance(self.disk, Unknown) or isinstance(self.kernel, Unknown):
            return self.disk if isinstance(self.disk, Unknown) else Unknown("which kernel runs")
        return next((m.version for m in self.disk if m.kernel == self.kernel), None)

    @property
    def next_kernel(self) -> DiskModule | None:
        """The newest kernel that could be booted, where it is newer than the running one."""
        if isinstance(self.disk, Unknown) or isinstance(self.kernel, Unknown):
            return None
        bootable = (module for module in self.disk if module.bootable)
        newest = max(bootable, key=lambda module: _numbers(module.kernel), default=None)
        if newest is None or _numbers(newest.kernel) <= _numbers(self.kernel):
            return None
        return newest


class NvidiaModule(Source[NvidiaModuleState]):
    """NVIDIA's kernel module.

    Sources: /sys/module/nvidia/version, /proc/driver/nvidia/version, /lib/modules/*/modules.dep
    (depmod(8)), modinfo(8). Needs no root.
    """

    probes = (
        framed_files("nvidia_module.loaded", _LOADED, _PROC),
        Probe("nvidia_module.disk", _ON_DISK),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaModuleState | Unknown:
        disk = section(sections, "nvidia_module.disk")
        running = re.search(r"^running (\S+)$", disk.out, re.MULTILINE)
        texts = file_texts(section(sections, "nvidia_module.loaded"))
        return NvidiaModuleState(
            loaded=_loaded(texts, disk),
            flavour=_flavour(texts),
            kernel=running[1] if running else disk.trouble or Unknown("uname -r: said nothing"),
            disk=disk.trouble or (tuple(_disk(disk)) if running else _NOT_UNDERSTOOD),
        )


Module = NvidiaModule  # the name before 0.2


def _loaded(texts: dict[str, str | Unknown] | Unknown, disk: Section) -> str | Unknown | None:
    if isinstance(texts, Unknown):
        return texts
    version, words = texts.get(_LOADED), texts.get(_PROC)
    if isinstance(version, str) and re.fullmatch(r"\d+(\.\d+)+", version.strip()):
        return version.strip()
    if isinstance(words, str) and (found := _NVRM.search(words)):
        return found[1]
    if version is None and words is None:
        asked = "asked" in disk.out.splitlines()
        return None if asked else Unknown("neither /sys/module nor /proc/driver is there")
    unread = next((text for text in (version, words) if isinstance(text, Unknown)), None)
    return unread or Unknown(f"{_LOADED}: no version in {version or words!r}")


def _flavour(texts: dict[str, str | Unknown] | Unknown) -> Flavour | Unknown | None:
    words = texts if isinstance(texts, Unknown) else texts.get(_PROC)
    if words is None or isinstance(words, Unknown):
        return words
    if not _NVRM.search(words):
        return Unknown(f"{_PROC}: no NVRM version line")
    line = next(line for line in words.splitlines() if line.startswith("NVRM version:"))
    return Flavour.OPEN if "Open Kernel Module" in line else Flavour.PROPRIETARY


def _disk(answer: Section) -> Iterator[DiskModule]:
    tool = "modinfo: not found" if "modinfo" in answer.err and "not found" in answer.err else ""
    for block in re.split(r"^kernel ", answer.out, flags=re.MULTILINE)[1:]:
        kernel, *lines = block.splitlines() or [""]
        said = dict(line.split(" ", 1) for line in lines if " " in line)
        path = said.get("module")
        unread = Unknown(tool or f"modinfo: no version of {path}") if path else None
        yield DiskModule(kernel, said.get("version") or unread, path, "image" in lines)


def _numbers(release: str) -> list[int]:
    """A kernel release as numbers: 6.8.0-106 is newer than 6.8.0-22, generic as new as cloud."""
    return [int(part) for part in re.findall(r"\d{1,18}", release)]
