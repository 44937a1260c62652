"""Which packages this node keeps from being updated, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from typing_extensions import override

from pyinfra_nvml.facts.nvidia_packages import NvidiaPackages
from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    file_texts,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# What `dnf versionlock`, `yum versionlock` and `zypper addlock` write; dnf's exclude lists are in
# its own file. apt-mark's holds are dpkg's selection "hold", which dpkg-query shows (apt-mark(8)).
_LOCKS = (
    "/etc/dnf/plugins/versionlock.list",
    "/etc/dnf/versionlock.toml",
    "/etc/yum/pluginconf.d/versionlock.list",
    "/etc/zypp/locks",
)
_EXCLUDES = ("/etc/dnf/dnf.conf", "/etc/yum.conf")
_PINS = ("/etc/apt/preferences", "/etc/apt/preferences.d/*")

# dnf.conf may hold a proxy's password: only its exclude lines are read.
_FILES = Probe(
    "package_holds.files",
    f"grep -HE '^ *exclude' {' '.join(_EXCLUDES)}\n"
    f"grep -H '' {' '.join(_LOCKS)} {' '.join(_PINS)} /dev/null",
)

_EVR = re.compile(r"-(?:\d+:)?\d[^-]*-[^-]+$")
"""A lock of one version: ``kmod-nvidia-3:550.90.07-1.el9.*`` (dnf-plugins-core, versionlock)."""


@dataclass(frozen=True)
class Hold(Value):
    """One hold: a package's name or a pattern of names, and the means.

    .. code:: python

        Hold("libnvidia-compute-550", by="dpkg hold")
        Hold("*nvidia*", by="/etc/zypp/locks")
    """

    pattern: str
    by: str


@dataclass(frozen=True)
class PackageHoldsState(Value):
    """All holds; ``unread`` says which of the places could not be read."""

    holds: tuple[Hold, ...]
    unread: tuple[Unknown, ...] = ()

    def on(self, package: str) -> Hold | None:
        """What holds this package; a name may carry its architecture (``name:amd64``)."""
        name = package.partition(":")[0]
        return next((hold for hold in self.holds if fnmatchcase(name, hold.pattern)), None)


class PackageHolds(Source[PackageHoldsState]):
    """The package holds of this node.

    Sources: dpkg-query(1) (selections), the version locks of dnf, yum and zypper, dnf's and yum's
    exclude lists, apt_preferences(5) (a pin below zero). dpkg's are read for NVIDIA's packages
    alone. Needs no root.
    """

    probes = (_FILES, *NvidiaPackages.probes)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> PackageHoldsState | Unknown:
        texts = file_texts(section(sections, _FILES.name))
        packages = NvidiaPackages.judged(sections)
        dpkg = packages if isinstance(packages, Unknown) else packages.dpkg
        unread = [part for part in (texts, dpkg) if isinstance(part, Unknown)]
        found = []
        if not isinstance(dpkg, Unknown):
            held = (package for package in dpkg or () if package.status.startswith("h"))
            found += [Hold(package.name.partition(":")[0], "dpkg hold") for package in held]
        for path, text in () if isinstance(texts, Unknown) else sorted(texts.items()):
            if isinstance(text, Unknown):
                unread.append(text)
            else:
                found += [Hold(pattern, path) for pattern in _patterns(path, text) if pattern]
        return PackageHoldsState(tuple(dict.fromkeys(found)), tuple(unread))


Holds = PackageHolds  # the name before 0.2


def _patterns(path: str, text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("#", ";"))]
    if path.endswith("versionlock.list"):
        return [_EVR.sub("", line) for line in lines if not line.startswith("!")]
    if path in _EXCLUDES:
        excludes = (re.match(r"exclude(?:pkgs)?\s*=\s*(.*)$", line) for line in lines)
        return [name for found in excludes if found for name in re.split(r"[,\s]+", found[1])]
    if path.startswith("/etc/apt/"):
        return _pins(lines)
    key = "solvable_name" if path.endswith("locks") else "name"
    named = (re.match(rf"{key}\s*[:=]\s*\"?([^\"\s]+)", line) for line in lines)
    return [found[1] for found in named if found]


def _pins(lines: list[str]) -> list[str]:
    """The packages that apt is told never to install (a priority below zero)."""
    names: list[str] = []
    found: list[str] = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.lower() == "package":
            names = value.split()
        elif key.lower() == "pin-priority" and value.strip().startswith("-"):
            found += names
    return found
