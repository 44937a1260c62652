"""The system of a described node: its release, kernel, systemd, cgroups, and whether it is WSL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_SYSTEMS: dict[str, list[str]] = yaml.safe_load(
    Path(__file__).with_name("systems.yaml").read_text()
)
"""Name to os-release's ID and VERSION_ID, the pretty name, a kernel and a systemd of it."""

APT = ("ubuntu", "debian")
_UPDATES = {
    "none": "{apt}",
    "unattended-upgrades": "timer apt-daily-upgrade\nprogram unattended-upgrade\n{apt}"
    'APT::Periodic::Unattended-Upgrade "1";\n',
    "dnf-automatic": "timer dnf-automatic\napply /etc/dnf/automatic.conf:apply_updates = yes\n",
}

_JOURNAL = "2026-03-01T04:00:01+0000 node systemd[1]: Mounted Huge Pages File System.\n"

_V1 = ("memory", "devices", "cpu", "pids")


def release(node: Mapping[str, Any]) -> str:
    """The kernel that runs."""
    said = node["system"]
    return str(said.get("kernel") or _SYSTEMS[said["name"]][3])


def identity(node: Mapping[str, Any]) -> str:
    """os-release's ID."""
    return _SYSTEMS[node["system"]["name"]][0]


def dpkg(node: Mapping[str, Any]) -> bool:
    """Whether its packages are dpkg's."""
    return identity(node) in APT


def answers(said: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``name`` is one of the systems above; ``kernel``, ``systemd``, ``tainted``, ``cgroup`` (v2,
    v1, hybrid), ``wsl`` (version 2), ``container``, ``unprivileged``, ``uid`` (who asks),
    ``hardware`` (vendor and product), ``updates`` (what installs by itself) and ``journal`` differ
    from its usual."""
    id_, version, pretty, _, systemd = _SYSTEMS[said["name"]]
    kernel = release(node)
    lines = [
        f"/proc/sys/kernel/osrelease:{kernel}",
        "/proc/sys/kernel/random/boot_id:00000000-0000-0000-0000-000000000000",
        f'/etc/os-release:PRETTY_NAME="{pretty}"',
        f"/etc/os-release:ID={id_}",
        *([f'/etc/os-release:VERSION_ID="{version}"'] if version else []),
    ]
    if "container" in said:
        lines.append(f"/run/systemd/container:{said['container']}")
    names = ("sys_vendor", "product_name")
    lines += [
        f"/sys/class/dmi/id/{name}:{value}"
        for name, value in zip(names, said.get("hardware", ()), strict=False)
    ]
    updates = said.get("updates", "unattended-upgrades" if id_ in APT else "none")
    found: dict[str, dict[str, Any]] = {
        "automatic_updates.ask": {
            "out": _UPDATES[updates].format(apt="apt\n" if id_ in APT else "")
        },
        "machine.files": {"rc": 2, "out": "\n".join(lines) + "\n"},
        "wsl.files": {"rc": 2, "out": f"/proc/sys/kernel/osrelease:{kernel}\n"},
        "cgroup.mounts": {"out": _mounts(said.get("cgroup", "v2"))},
        "systemd_manager.show": {
            "out": f"Version={said.get('systemd', systemd)}\nTainted={said.get('tainted', '')}\n"
            "SystemState=running\n"
        },
        "systemd_manager.journal": {"out": said.get("journal", _JOURNAL)},
    }
    if "uid" in said:
        found["machine.self"] = {"out": f"uid {said['uid']}\narch x86_64\n"}
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
