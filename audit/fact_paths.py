"""Where single facts lie among those of a recorded node, by the fields of facts.node.NodeState."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any


class FactPath(str, Enum):
    """The facts that are read back from a document, one line each."""

    KERNEL = "machine.kernel"
    SYSTEM = "machine.os_name"
    HIERARCHY = "cgroup.mode"
    SYSTEMD = "systemd_manager.version"
    DOCKER = "docker_engine.info.server_version"
    DOCKER_CGROUP_DRIVER = "docker_engine.info.cgroup_driver"
    DOCKER_LIVE_RESTORE = "docker_engine.info.live_restore"
    DOCKER_RUNTIME = "docker_engine.info.default_runtime"
    DAEMON_JSON = "daemon_json.files"
    RUNC = "runtime_versions.runc"
    CRUN = "runtime_versions.crun"
    CONTAINERD = "runtime_versions.containerd"
    CRIO = "runtime_versions.crio"
    DRIVER = "nvidia_driver"
    WSL = "wsl"
    MODULE_LOADED = "nvidia_driver.module.loaded"
    MODULE_FLAVOUR = "nvidia_driver.module.flavour"
    MODULE_KERNEL = "nvidia_driver.module.kernel"
    MODULE_ON_DISK = "nvidia_driver.module.disk"
    LIBRARY = "nvidia_driver.libraries.resolved"
    LIBRARY_VERSION = "nvidia_driver.libraries.resolved.version"
    LIBRARY_EXISTS = "nvidia_driver.libraries.resolved.exists"
    CONTAINED_LIBRARY = "nvidia_driver.libraries.root.version"
    DPKG_PACKAGES = "nvidia_driver.packages.dpkg"
    RPM_PACKAGES = "nvidia_driver.packages.rpm"
    HOLDS = "package_holds.holds"
    TOOLKIT = "container_toolkit.version"
    TOOLKIT_MODE = "container_toolkit.config.mode"
    TOOLKIT_NO_CGROUPS = "container_toolkit.config.no_cgroups"
    CDI_SPECS = "container_toolkit.specs"
    KUBELET = "kubelet.version"
    KUBELET_CGROUP_DRIVER = "kubelet.cgroup_driver"
    GPU_OPERATOR = "cluster.operator.version"
    GPU_OPERATOR_CDI = "cluster.policy.cdi"
    DEVICE_PLUGIN = "cluster.plugin.release.version"
    DEVICE_PLUGIN_SPECS = "cluster.plugin.passes"
    MIG_MODES = "mig.modes"


class Untold(Exception):
    """The node did not say, or the document is of a version that does not have this fact."""


def fact_at(facts: Mapping[str, Any], path: FactPath | str) -> Any:
    """The value at a path; below what a node does not have there is nothing either.

    Raises ``Untold`` where the value, or something on the way to it, is unknown.
    """
    value: Any = facts
    for step in path.split("."):
        if value is None:
            return None
        if not isinstance(value, Mapping) or step not in value:
            raise Untold
        value = value[step]
        if _unknown(value):
            raise Untold
    return value


def items_at(facts: Mapping[str, Any], path: FactPath) -> list[Mapping[str, Any]]:
    """The items of a list; raises ``Untold`` where anything in one of them is unknown."""
    items = fact_at(facts, path) or []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise Untold
    if any(_unknown(part) for item in items for part in item.values()):
        raise Untold
    return items


def _unknown(value: object) -> bool:
    """Whether this is a ``model.unknown.Unknown`` as JSON."""
    return isinstance(value, Mapping) and set(value) == {"unknown"}
