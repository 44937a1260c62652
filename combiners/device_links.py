"""Whether runc on this node gives systemd a device rule only where /dev/char names the device."""

from __future__ import annotations

from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown

_FIRST, _LAST = (1, 1, 3), (1, 1, 6)
"""runc, libcontainer/cgroups/systemd/common.go at its tags: 1.1.3 began to ask /dev/char, 1.1.7
stopped where systemd is 240 or newer."""

SYSTEMD = 240
"""Older ones need the path to exist whatever runc does."""


def runc(node: NodeState) -> str | Unknown | None:
    """The version of runc: what Docker says of its own, else the program on the PATH."""
    info = node.engine_info
    if isinstance(info, EngineInfo) and release(info.runc):
        return info.runc
    return (
        node.runtime_versions
        if isinstance(node.runtime_versions, Unknown)
        else node.runtime_versions.runc
    )


def wanted(node: NodeState) -> bool | Unknown:
    """Whether a device without a link under /dev/char gets no rule of systemd's here."""
    version = runc(node)
    if isinstance(version, Unknown):
        return version
    number = release(version) if version else _without_runc(node)
    if number is None:
        return Unknown(f"runc: {'no number in ' + version if version else 'not found'}")
    if number < _FIRST:
        return False
    if number <= _LAST:
        return True
    systemd = node.systemd_manager
    if systemd is None or isinstance(systemd, Unknown):
        return systemd or False
    return systemd.number if isinstance(systemd.number, Unknown) else systemd.number < SYSTEMD


def _without_runc(node: NodeState) -> tuple[int, ...] | None:
    """Where crun alone is there, it is as a runc of today: it never asks whether the path is there
    (containers/crun, src/libcrun/cgroup-systemd.c)."""
    versions = node.runtime_versions
    crun = None if isinstance(versions, Unknown) else versions.crun
    return (*_LAST, 1) if isinstance(crun, str) else None


def there(node: NodeState) -> bool | Unknown:
    """Whether /dev/char names NVIDIA's control node."""
    links = node.dev_char_links
    if links is None or isinstance(links, Unknown):
        return links or False
    return "195:255" in links.links


def by_systemd(node: NodeState) -> bool | Unknown:
    """Whether systemd holds the containers of an engine of this node: Docker's or kubelet's."""
    told = (_docker(node), pods_by_systemd(node))
    if True in told:
        return True
    return next((part for part in told if isinstance(part, Unknown)), False)


def _docker(node: NodeState) -> bool | Unknown:
    info = node.engine_info
    if info is None or node.podman:
        return False
    return info if isinstance(info, Unknown) else info.cgroup_driver == "systemd"


def pods_by_systemd(node: NodeState) -> bool | Unknown:
    """Whether systemd holds this node's pods.

    By their specs: SLICE:PREFIX:NAME asks runc for systemd, a path for cgroupfs (runc,
    libcontainer/specconv); where none runs, by kubelet's setting."""
    kubelet, specs = node.kubelet, node.oci_specs
    if kubelet is None or isinstance(kubelet, Unknown):
        return kubelet or False
    listed = () if isinstance(specs, Unknown) else specs.containers
    paths = [one.cgroups_path for one in listed if "kubepods" in one.cgroups_path]
    if paths:
        return any(":" in path for path in paths)
    if kubelet.cgroup_driver is None:
        return Unknown("kubelet: no cgroupDriver in its flags and files")
    if isinstance(kubelet.cgroup_driver, Unknown):
        return kubelet.cgroup_driver
    return kubelet.cgroup_driver == "systemd"
