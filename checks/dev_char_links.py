"""Where runc needs /dev/char to name NVIDIA's devices, it does.

runc 1.1.3 to 1.1.6 hands systemd a rule for a device only if `/dev/char/MAJOR:MINOR` is there, and
any newer one does so with systemd older than 240. NVIDIA's nodes are made by hand, so nothing links
them. Then even a container with explicit devices (`--device`, CDI, a device plugin with device
specs) has no rule in its scope, and loses the GPU at the next `systemctl daemon-reload`.

Bad:

    runc 1.1.5   systemd 252   /dev/char: no 195:255

Good:

    runc 1.1.15

Repair: a newer runc (1.1.7 with systemd 240), or `nvidia-ctk system create-dev-char-symlinks
--create-all` at every boot (a udev rule; GPU Operator 22.9.2 and newer do it). Neither helps
containers with the legacy hook: they need `deploys/fix_cgroup.py` or CDI.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners import device_links
from pyinfra_nvml.combiners.guest import UNFILTERED, unfiltered
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT, NvidiaDriverState, seen
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """A runc that needs the links, on a node that has none."""
    if node.nvidia_driver is None:
        yield NotApplicable(ABSENT)
        return
    if node.docker_engine is None and node.kubelet is None:
        yield NotApplicable("neither Docker nor a kubelet on this node")
        return
    if unfiltered(node):
        yield NotApplicable(UNFILTERED)
        return
    held, wanted = device_links.by_systemd(node), device_links.wanted(node)
    there = device_links.there(node)
    if held is False:
        yield NotApplicable("systemd holds no containers here: the cgroup driver is not systemd")
    elif wanted is False:
        return
    elif isinstance(held, Unknown):
        yield Undetermined("container engine", held.reason)
    elif isinstance(wanted, Unknown):
        yield Undetermined("runc", wanted.reason)
    elif isinstance(there, Unknown):
        yield Undetermined("/dev/char", there.reason)
    elif not there:
        yield (
            _finding(node)
            if _has_driver(node)
            else Undetermined("driver", "no part of it was seen")
        )


def _has_driver(node: NodeState) -> bool:
    return isinstance(node.nvidia_driver, NvidiaDriverState) and seen(node.nvidia_driver)


def _finding(node: NodeState) -> Finding:
    systemd = node.systemd_manager
    number = "?" if systemd is None or isinstance(systemd, Unknown) else systemd.number
    return Finding(
        level=Level.AT_RISK,
        subject="runc",
        saw=f"runc {device_links.runc(node)}, systemd {number}, no /dev/char/195:255",
        want="runc 1.1.7 or newer with systemd 240 or newer, or links under /dev/char",
        why="this runc gives systemd no rule for a device that /dev/char does not name: containers"
        " with --device or CDI lose it at a daemon-reload too",
        repair=Repair.MANUAL,
        do="update runc (its package: runc, containerd.io or docker.io), or have udev run"
        " `nvidia-ctk system create-dev-char-symlinks --create-all`; then restart the containers",
        avoid="links for containers with the legacy hook: they are exposed with links too",
        reference="https://github.com/opencontainers/runc/blob/main/CHANGELOG.md",
    )
