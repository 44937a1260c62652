"""A node's disk: a tmpfs that holds its changes over the root file system and its /var/lib/docker.

Docker's overlay2 cannot stand on an overlay, so /var/lib/docker is bound from the tmpfs itself. All
of it outlives a reboot of the node and is gone, at once, when the node is stopped.
"""

import shutil
import time
from pathlib import Path

from tests.lab.command import tool
from tests.lab.errors import LabError


def lay(place: Path, lower: Path) -> Path:
    """Mount a node's root under `place`; returns where it is."""
    disk, root = place / "disk", place / "root"
    disk.mkdir()
    root.mkdir()
    tool("mount", "-t", "tmpfs", "-o", "mode=0755", "pyinfra-nvml-lab", str(disk))
    for name in ("upper", "work", "docker"):
        (disk / name).mkdir(mode=0o755)
    layers = f"lowerdir={lower},upperdir={disk / 'upper'},workdir={disk / 'work'}"
    tool("mount", "-t", "overlay", "-o", layers, "pyinfra-nvml-lab", str(root))
    return root


def lift(place: Path, limit: float = 10) -> None:
    """Unmount whatever is mounted under `place`, then remove it; no mount is ever walked."""
    end = time.monotonic() + limit
    while mounted := _under(place):
        try:
            tool("umount", mounted[-1])
        except LabError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
    shutil.rmtree(place, ignore_errors=True)


def _under(place: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [point for line in lines if (point := line.split()[4]).startswith(f"{place}/")]
