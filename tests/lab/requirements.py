"""What this machine needs to carry nodes, and the Debian package that brings what is missing."""

import os
import shutil
from pathlib import Path

from tests.lab import cgroups

PACKAGE_OF = {
    "mmdebstrap": "mmdebstrap",
    "systemd-nspawn": "systemd-container",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ip": "iproute2",
    "gcc": "gcc libc6-dev",
    "mount": "mount",
    "setpriv": "util-linux",
    "apt-get": "apt",
}
# linux/capability.h
CAP_SYS_ADMIN = 21


def required() -> bool:
    """Whether a machine that cannot run the lab is a failure: in CI, and where it was asked for."""
    asked = os.environ.get("PYINFRA_NVML_LAB") == "required"
    return asked or os.environ.get("CI") == "true"


def missing() -> str | None:
    """Why no node can run on this machine, in one line; None where nodes can."""
    if os.geteuid() != 0:
        return f"lab: user id is {os.geteuid()}, want 0 (root)"
    lacking = [name for name in PACKAGE_OF if shutil.which(name) is None]
    if lacking:
        packages = " ".join(sorted({PACKAGE_OF[name] for name in lacking}))
        return f"lab: no {', '.join(lacking)} here, want it: apt-get install {packages}"
    if not _may_mount():
        return "lab: no CAP_SYS_ADMIN here, want it: mounts and namespaces need it"
    if cgroups.unified_mount() is None:
        return "lab: no cgroup2 mount in /proc/self/mounts, want one"
    return None


def missing_for_legacy() -> str | None:
    """Why no cgroup v1 node can run on this machine, in one line; None where it can."""
    if "devices" in {path.name for path in cgroups.legacy_mounts()}:
        return None
    return "lab: no cgroup v1 devices hierarchy in /proc/self/mounts, want it for legacy nodes"


def _may_mount() -> bool:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> CAP_SYS_ADMIN & 1)
    return False
