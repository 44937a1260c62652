"""The system of a described node: its release, kernel, systemd, cgroups, and whether it is WSL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SYSTEMS = {
    "Ubuntu 18.04": (
        "ubuntu",
        "18.04",
        "Ubuntu 18.04.6 LTS",
        "5.4.0-150-generic",
        "237-3ubuntu10.57",
    ),
    "Ubuntu 20.04": (
        "ubuntu",
        "20.04",
        "Ubuntu 20.04.6 LTS",
        "5.15.0-67-generic",
        "245.4-4ubuntu3.24",
    ),
    "Ubuntu 22.04": (
        "ubuntu",
        "22.04",
        "Ubuntu 22.04.5 LTS",
        "5.15.0-126-generic",
        "249.11-0ubuntu3.12",
    ),
    "Ubuntu 24.04": (
        "ubuntu",
        "24.04",
        "Ubuntu 24.04.3 LTS",
        "6.8.0-106-generic",
        "255.4-1ubuntu8.11",
    ),
    "Debian 11": (
        "debian",
        "11",
        "Debian GNU/Linux 11 (bullseye)",
        "5.10.0-21-amd64",
        "247.3-7+deb11u4",
    ),
    "Debian 12": (
        "debian",
        "12",
        "Debian GNU/Linux 12 (bookworm)",
        "6.1.0-23-amd64",
        "252.30-1~deb12u2",
    ),
    "Debian 13": (
        "debian",
        "13",
        "Debian GNU/Linux 13 (trixie)",
        "6.12.57+deb13-amd64",
        "257.9-1~deb13u1",
    ),
    "Gentoo": ("gentoo", "", "Gentoo Linux", "5.10.38-gentoo-dist", "247"),
    "Arch Linux": ("arch", "", "Arch Linux", "6.9.7-arch1-1", "256.1-1-arch"),
    "CentOS 7": ("centos", "7", "CentOS Linux 7 (Core)", "3.10.0-1160.el7.x86_64", "219"),
    "Rocky 9": (
        "rocky",
        "9.4",
        "Rocky Linux 9.4 (Blue Onyx)",
        "5.14.0-427.el9.x86_64",
        "252-32.el9_4",
    ),
    "RHEL 9": (
        "rhel",
        "9.6",
        "Red Hat Enterprise Linux 9.6 (Plow)",
        "5.14.0-570.12.1.el9_6.x86_64",
        "252-51.el9",
    ),
    "SLES 15": (
        "sles",
        "15.6",
        "SUSE Linux Enterprise Server 15 SP6",
        "6.4.0-150600.23.33-default",
        "254.24+suse.131.g18b7f5e8f9",
    ),
    "Flatcar": (
        "flatcar",
        "4081.2.1",
        "Flatcar Container Linux by Kinvolk 4081.2.1 (Oklo)",
        "6.6.74-flatcar",
        "255",
    ),
    "Fedora 40": ("fedora", "40", "Fedora Linux 40", "6.9.7-200.fc40.x86_64", "255.8-1.fc40"),
    "Azure Linux 2": ("mariner", "2.0", "CBL-Mariner/Linux", "5.15.167.1-2.cm2", "250.3-17.cm2"),
    "Amazon Linux 2": ("amzn", "2", "Amazon Linux 2", "5.10.213-201.855.amzn2.x86_64", "219"),
    "Rocky 8": ("rocky", "8.9", "Rocky Linux 8.9 (Green Obsidian)", "4.18.0-513.el8.x86_64", "239"),
    "Amazon Linux 2023": (
        "amzn",
        "2023",
        "Amazon Linux 2023",
        "6.1.102-111.182.amzn2023.x86_64",
        "252.23-2.amzn2023",
    ),
    "NixOS 24.05": ("nixos", "24.05", "NixOS 24.05 (Uakari)", "6.6.36", "255.6"),
}
"""Name to os-release's ID and VERSION_ID, the pretty name, a kernel and a systemd of it."""

APT = ("ubuntu", "debian")
_UNATTENDED = """\
timer apt-daily-upgrade
program unattended-upgrade
apt
APT::Periodic::Unattended-Upgrade "1";
"""

_JOURNAL = "2026-03-01T04:00:01+0000 node systemd[1]: Mounted Huge Pages File System.\n"

_V1 = ("memory", "devices", "cpu", "pids")


def release(node: Mapping[str, Any]) -> str:
    """The kernel that runs."""
    said = node["system"]
    return str(said.get("kernel") or _SYSTEMS[said["name"]][3])


def dpkg(node: Mapping[str, Any]) -> bool:
    """Whether its packages are dpkg's."""
    return _SYSTEMS[node["system"]["name"]][0] in APT


def answers(said: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``name`` is one of the systems above; ``kernel``, ``systemd``, ``tainted``, ``cgroup`` (v2,
    v1, hybrid), ``wsl`` (version 2), ``container``, ``unprivileged`` and ``journal`` differ from
    its usual."""
    identity, version, pretty, _, systemd = _SYSTEMS[said["name"]]
    kernel = release(node)
    lines = [
        f"/proc/sys/kernel/osrelease:{kernel}",
        "/proc/sys/kernel/random/boot_id:00000000-0000-0000-0000-000000000000",
        f'/etc/os-release:PRETTY_NAME="{pretty}"',
        f"/etc/os-release:ID={identity}",
        *([f'/etc/os-release:VERSION_ID="{version}"'] if version else []),
    ]
    if "container" in said:
        lines.append(f"/run/systemd/container:{said['container']}")
    apt = identity in APT
    found: dict[str, dict[str, Any]] = {
        "automatic_updates.ask": {"out": _UNATTENDED if apt else ""},
        "machine.files": {"rc": 2, "out": "\n".join(lines) + "\n"},
        "wsl.files": {"rc": 2, "out": f"/proc/sys/kernel/osrelease:{kernel}\n"},
        "cgroup.mounts": {"out": _mounts(said.get("cgroup", "v2"))},
        "systemd_manager.show": {
            "out": f"Version={said.get('systemd', systemd)}\nTainted={said.get('tainted', '')}\n"
            "SystemState=running\n"
        },
        "systemd_manager.journal": {"out": said.get("journal", _JOURNAL)},
    }
    if said.get("unprivileged"):
        found["machine.self"] = {"out": "uid 0\narch x86_64\nmarker lxc\nuserns 100000\n"}
    if said.get("wsl"):
        paths = ("/dev/dxg", "/run/WSL", *(f"/usr/lib/wsl/lib/{name}" for name in _WSL))
        found["wsl.paths"] = {"out": "\n".join(paths) + "\n"}
    return found


_WSL = ("libcuda.so.1", "libnvidia-ml.so.1", "nvidia-smi")


def _mounts(mode: str) -> str:
    if mode == "v2":
        return (
            "mount 73 293 0:38 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:41 - cgroup2"
            " cgroup rw\nsystemd\n"
        )
    lines = ["mount 25 20 0:22 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755"]
    if mode == "hybrid":
        lines.append(
            "mount 26 25 0:23 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw"
        )
    lines += [
        f"mount {30 + n} 25 0:{26 + n} / /sys/fs/cgroup/{name} rw,relatime shared:{11 + n}"
        f" - cgroup cgroup rw,{name}"
        for n, name in enumerate(_V1)
    ]
    lines.append(
        "mount 29 25 0:25 / /sys/fs/cgroup/systemd rw,relatime shared:8 - cgroup cgroup"
        " rw,xattr,name=systemd"
    )
    return "\n".join([*lines, "systemd"]) + "\n"
