"""The node itself: who asked, which kernel, which system, and whether it is a container."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    file_texts,
    framed_files,
    number,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# The first user namespace has every user id (user_namespaces(7), uid_map); one below it has fewer.
# /run/systemd/container and /run/host/container-manager name the manager (systemd,
# CONTAINER_INTERFACE.md); Docker and podman leave an empty marker file instead.
_SELF = """
echo "uid $ASKER"
echo "arch $MACHINE"
[ -e /.dockerenv ] && echo marker docker
[ -e /run/.containerenv ] && echo marker podman
[ -e /dev/.lxc ] || [ -e /dev/lxd ] && echo marker lxc
read -r _ outside count </proc/self/uid_map &&
  [ "$count" -lt 4294967295 ] && echo "userns $outside"
true
"""


@dataclass(frozen=True)
class MachineState(Value):
    """The node's own description.

    ``uid`` is the user that the probes ran as: 0 sees everything. ``container`` is the manager of
    the container that this "node" is (``None``: not one). ``hardware`` is what the firmware calls
    the machine (DMI: vendor, product). ``unprivileged`` is whether its root is another user on the
    host (a user namespace: unprivileged LXC), so that it can set no device filter.

    .. code:: python

        MachineState(uid=0, kernel="6.1.0-23-amd64", architecture="x86_64",
                     boot_id="7d0f2d6e-...", os_id="debian", os_version="12",
                     os_name="Debian GNU/Linux 12 (bookworm)", container=None,
                     hardware="QEMU Standard PC (Q35 + ICH9, 2009)", unprivileged=False)
    """

    uid: int | Unknown
    kernel: str | Unknown
    architecture: str | Unknown
    boot_id: str | Unknown | None
    os_id: str | Unknown | None
    os_version: str | Unknown | None
    os_name: str | Unknown | None
    container: str | Unknown | None
    hardware: str | Unknown | None
    unprivileged: bool | Unknown = False


class Machine(Source[MachineState]):
    """What this node is.

    Sources: id(1), uname(1), /proc/sys/kernel (proc(5)), os-release(5), /sys/class/dmi/id. Needs
    no root.
    """

    probes = (
        Probe("machine.self", _SELF, lines=r"(uid|arch|marker|userns) "),
        framed_files(
            "machine.files",
            "/proc/sys/kernel/osrelease",
            "/proc/sys/kernel/random/boot_id",
            "/etc/os-release",
            "/usr/lib/os-release",
            "/run/systemd/container",
            "/run/host/container-manager",
            "/sys/class/dmi/id/sys_vendor",
            "/sys/class/dmi/id/product_name",
        ),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> MachineState | Unknown:
        own = section(sections, "machine.self")
        texts = file_texts(section(sections, "machine.files"))
        if isinstance(texts, Unknown):
            return own.trouble or texts
        release = _os_release(texts)
        return MachineState(
            uid=_uid(own),
            kernel=texts.get("/proc/sys/kernel/osrelease") or Unknown("/proc gives no release"),
            architecture=_said(own, "arch") or own.trouble or Unknown("uname -m: said nothing"),
            boot_id=texts.get("/proc/sys/kernel/random/boot_id"),
            os_id=_entry(release, "ID"),
            os_version=_entry(release, "VERSION_ID"),
            os_name=_entry(release, "PRETTY_NAME"),
            container=_container(own, texts),
            hardware=_hardware(texts),
            unprivileged=own.trouble or _said(own, "userns") is not None,
        )


def _said(own: Section, key: str) -> str | None:
    found = re.search(rf"^{key} (\S+)$", own.out, re.MULTILINE)
    return found[1] if found else None


def _uid(own: Section) -> int | Unknown:
    uid = number(_said(own, "uid") or "")
    return uid if uid is not None else own.trouble or Unknown("id -u: no number")


def _os_release(texts: dict[str, str | Unknown]) -> str | Unknown | None:
    # The one under /usr/lib counts only where /etc has none (os-release(5)).
    return texts.get("/etc/os-release") or texts.get("/usr/lib/os-release")


def _entry(release: str | Unknown | None, key: str) -> str | Unknown | None:
    if release is None or isinstance(release, Unknown):
        return release
    found = re.findall(rf"^{key}=(.*)$", release, re.MULTILINE)
    return found[-1].strip().strip("\"'") if found else None


def _container(own: Section, texts: dict[str, str | Unknown]) -> str | Unknown | None:
    named = texts.get("/run/systemd/container") or texts.get("/run/host/container-manager")
    return named or _said(own, "marker") or own.trouble


def _hardware(texts: dict[str, str | Unknown]) -> str | Unknown | None:
    names = (
        texts.get("/sys/class/dmi/id/sys_vendor"),
        texts.get("/sys/class/dmi/id/product_name"),
    )
    for name in names:
        if isinstance(name, Unknown):
            return name
    return " ".join(name.strip() for name in names if isinstance(name, str)) or None
