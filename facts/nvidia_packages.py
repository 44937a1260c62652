"""NVIDIA's packages on this node, by every package manager that is there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# dpkg-query ends with 1 where nothing matches; a name with an architecture is a foreign one. The
# kernel's own packages count where each kernel has a ready-made module of its own.
_DPKG = (
    "dpkg-query -W -f='${db:Status-Abbrev}|${binary:Package}|${Version}\\n'"
    " '*nvidia*' '*cuda-drivers*' 'linux-image-*'"
)
# Asked where it has no database, rpm makes one (seen with 4.18 as root), and Debian's looks for it
# below HOME: it is only asked of a database that is there (rpm's lib/backend: sqlite, bdb, ndb),
# and where rpm came as a package of another manager it is not asked at all.
_RPM = """command -v rpm >/dev/null || exit 127
for record in /var/lib/dpkg/info/rpm.list /var/lib/pacman/local/rpm-tools-*; do
  [ ! -e "$record" ] || { echo "owner $record"; exit 0; }
done
place=$(rpm --eval '%{_dbpath}') || exit
for file in rpmdb.sqlite Packages Packages.db; do
  [ ! -e "$place/$file" ] || exec rpm -qa --qf '%{NAME}|%{EPOCH}:%{VERSION}-%{RELEASE}\\n' \\
    '*nvidia*' '*cuda-drivers*' rpm
done
echo "no database of rpm in $place" >&2
exit 1"""

# dkms.in of dell/dkms: version 3 writes "nvidia/550.90.07, KERNEL, ARCH: installed", version 2
# and every weak-modules line "nvidia, 550.90.07, KERNEL, ARCH: installed"; a module that is only
# added has neither kernel nor architecture.
_DKMS_LINE = re.compile(
    r"^(?P<name>[\w-]*nvidia[\w-]*)(?:/|, )(?P<version>[^,:\s]+)"
    r"(?:, (?P<kernel>[^,:\s]+), (?P<arch>[^,:\s]+))?: (?P<status>.+)$"
)


@dataclass(frozen=True)
class Package(Value):
    """One package, raw: manager (dpkg, rpm, dkms), name, version, status.

    dpkg's status is its abbreviation (``ii`` installed, ``hi`` held, ``iU`` unpacked); rpm's is
    ``installed``; dkms' is its own words, with the ``kernel`` they are about.

    .. code:: python

        Package("dpkg", "libnvidia-compute-550", "550.107.02-0ubuntu0~gpu22.04.1", "ii")
        Package("dkms", "nvidia", "550.107.02", "installed", kernel="6.8.0-106-generic")
    """

    manager: str
    name: str
    version: str
    status: str
    kernel: str | None = None


@dataclass(frozen=True)
class NvidiaPackagesState(Value):
    """Installed packages; ``None`` for a manager that this node does not have."""

    dpkg: tuple[Package, ...] | Unknown | None
    rpm: tuple[Package, ...] | Unknown | None
    dkms: tuple[Package, ...] | Unknown | None

    @property
    def known(self) -> tuple[Package, ...]:
        """All that could be read."""
        readable = (x for x in (self.dpkg, self.rpm, self.dkms) if isinstance(x, tuple))
        return tuple(package for packages in readable for package in packages)


class NvidiaPackages(Source[NvidiaPackagesState]):
    """NVIDIA's packages, and beside ready-made modules the kernel's (``linux-image-generic``).

    Sources: dpkg-query(1), rpm(8), dkms(8) ``status`` (versions 2 and 3). Needs no root.
    """

    probes = (
        Probe("nvidia_packages.dpkg", _DPKG),
        Probe("nvidia_packages.rpm", _RPM),
        Probe("nvidia_packages.dkms", "dkms status", lines=r".+: "),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaPackagesState | Unknown:
        return NvidiaPackagesState(
            dpkg=_dpkg(section(sections, "nvidia_packages.dpkg")),
            rpm=_rpm(section(sections, "nvidia_packages.rpm")),
            dkms=_dkms(section(sections, "nvidia_packages.dkms")),
        )


Packages = NvidiaPackages  # the name before 0.2


def _dpkg(answer: Section) -> tuple[Package, ...] | Unknown | None:
    if answer.rc == 127:
        return None
    if answer.trouble and not (answer.rc == 1 and "no packages found" in answer.err):
        return answer.trouble
    rows = [row for line in answer.out.splitlines() if len(row := line.split("|")) == 3 and row[0]]
    found = tuple(
        Package("dpkg", name, version, status.strip())
        for status, name, version in rows
        # Wanted and present: "un" was never installed, "rc" left only its configuration behind.
        if status[1:2] not in ("n", "c", "")
    )
    return _of_the_driver(found) if rows else _nothing(answer)


def _of_the_driver(found: tuple[Package, ...]) -> tuple[Package, ...]:
    """With the kernel's packages only where the module comes ready-made for each kernel."""
    if any(package.name.startswith("linux-modules-nvidia-") for package in found):
        return found
    return tuple(one for one in found if "nvidia" in one.name or "cuda-drivers" in one.name)


def _rpm(answer: Section) -> tuple[Package, ...] | Unknown | None:
    # busybox has an rpm of its own that only unpacks files: that node has no rpm database.
    if answer.rc == 127 or "BusyBox" in answer.err:
        return None
    if answer.trouble:
        return answer.trouble
    if answer.out.startswith("owner /"):
        return None
    rows = [row for line in answer.out.splitlines() if len(row := line.split("|")) == 2]
    if not rows and not answer.out.strip():
        return Unknown(f"{answer.name}: its database does not know rpm itself")
    found = tuple(Package("rpm", row[0], row[1], "installed") for row in rows if row[0] != "rpm")
    return found if rows else _nothing(answer)


def _dkms(answer: Section) -> tuple[Package, ...] | Unknown | None:
    if answer.rc == 127:
        return None
    if answer.trouble:
        return answer.trouble
    lines = [line.strip() for line in answer.out.splitlines() if "nvidia" in line]
    found = tuple(
        Package("dkms", f["name"], f["version"], f["status"].strip(), f["kernel"])
        for line in lines
        if (f := _DKMS_LINE.match(line))
    )
    return found or (_not_understood(answer, lines[0]) if lines else ())


def _nothing(answer: Section) -> tuple[Package, ...] | Unknown:
    said = answer.out.strip()
    return _not_understood(answer, said.splitlines()[0]) if said else ()


def _not_understood(answer: Section, line: str) -> Unknown:
    return Unknown(f"{answer.name}: not understood: {line[:80]!r}")
