"""A driver without a GPU: real packages that carry its files, and a boot that "loads" its module.

No module can be loaded in a nspawn machine. At boot a unit reads the version of the nvidia.ko on
disk with the real modinfo and writes it to /sys/module, which in such a machine is a tmpfs of its
own: so that what the audit finds there is what the last boot found on disk, as with a real driver.
Until then an upgrade of the packages changes the files alone.
"""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from tests.lab.command import tool
from tests.lab.node import Node

LIBRARY = "libnvidia-compute-550"
MODULE = "nvidia-dkms-550"
# The packages of one driver, the fabric manager among them, which has to match it.
PACKAGES = (LIBRARY, MODULE, "nvidia-fabricmanager-550")
KERNEL = os.uname().release
LOADED = "/sys/module/nvidia/version"
# Where it is, the module of the next boot does not load: a signature that the kernel rejects.
REJECTED = "/etc/lab-module-rejected"
# Read-only again: on a writable /sys udev starts, and networkd waits for it to name the interface.
LOAD = f"""\
#!/bin/sh
version=$(modinfo -F version /lib/modules/{KERNEL}/updates/dkms/nvidia.ko) || exit 0
mount -o remount,rw /sys
mkdir -p /sys/module
[ -e {REJECTED} ] || {{
    mkdir -p /sys/module/nvidia
    echo "$version" >{LOADED}
}}
mount -o remount,ro /sys
"""
# Files of a node that "loads" the module on disk at boot.
FILES = {
    "/usr/local/sbin/lab-load-module": LOAD,
    "/etc/systemd/system/lab-gpu-nodes.service.d/module.conf": (
        "[Service]\nExecStart=/bin/sh /usr/local/sbin/lab-load-module\n"
    ),
}


def build(place: Path, *versions: str) -> None:
    """Build the packages of these versions, before several nodes want them at once."""
    for version in versions:
        for name in PACKAGES:
            _deb(place, name, version)


def install(node: Node, place: Path, version: str, *names: str) -> None:
    """Install the packages of this driver's version on the node, or some of them, with dpkg."""
    built = [_deb(place, name, version) for name in names or PACKAGES]
    for deb in built:
        shutil.copyfile(deb, node.machine.root / "var/tmp" / deb.name)
    node.sh(f"dpkg -i {' '.join(f'/var/tmp/{deb.name}' for deb in built)}")


def load(node: Node) -> None:
    """What the node's next boot does, done now: `modprobe nvidia`."""
    node.sh("sh /usr/local/sbin/lab-load-module")


def loaded(node: Node) -> str:
    """The version "in memory"; empty where none is."""
    return node.run(f"cat {LOADED}").stdout.strip()


def _deb(place: Path, name: str, version: str) -> Path:
    built = place / f"{name}_{version}-1_all.deb"
    if not built.exists():
        tree = place / f"{name}-{version}"
        _fill(tree, name, version)
        control = tree / "DEBIAN/control"
        control.parent.mkdir()
        fields = {
            "Package": name,
            "Version": f"{version}-1",
            "Architecture": "all",
            "Maintainer": "lab <lab@localhost>",
            "Description": "files of a driver, for tests",
        }
        control.write_text("".join(f"{key}: {value}\n" for key, value in fields.items()))
        tool("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(built))
    return built


def _fill(tree: Path, name: str, version: str) -> None:
    if name == LIBRARY:
        libraries = tree / f"usr/lib/{platform.machine()}-linux-gnu"
        libraries.mkdir(parents=True)
        (libraries / f"libnvidia-ml.so.{version}").write_text("no library\n")
        (libraries / "libnvidia-ml.so.1").symlink_to(f"libnvidia-ml.so.{version}")
    elif name == MODULE:
        modules = tree / f"lib/modules/{KERNEL}"
        (modules / "updates/dkms").mkdir(parents=True)
        _module(modules / "updates/dkms/nvidia.ko", version)
        (modules / "modules.dep").write_text("updates/dkms/nvidia.ko:\n")
    else:
        tree.mkdir(parents=True)


def _module(path: Path, version: str) -> None:
    """An object file with the section that modinfo reads."""
    source = f'const char v[] __attribute__((section(".modinfo"))) = "version={version}";\n'
    compiler = ["gcc", "-x", "c", "-c", "-o", str(path), "-"]
    subprocess.run(compiler, input=source.encode(), check=True)
