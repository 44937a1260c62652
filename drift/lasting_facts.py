"""What of a node's facts is the same from one audit to the next, unless somebody changed it.

Left out is whatever changes by itself: times, process ids, container ids, lines of logs, the boot,
numbers that the kernel assigns again at each boot (the major of nvidia-uvm), and what a finding
tells already (containers, device nodes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Values = dict[str, str | None]
"""A fact by its name, in words; ``None``: the node has no such thing."""

_REMOVED = ("rc", "pc", "hc", "uc")
"""dpkg-query(1), ``db:Status-Abbrev``: config-files."""

_Shape = Callable[[str, Any], Values]


def _one(name: str, value: Any) -> Values:
    return {name: None if value is None else str(value)}


def _config(name: str, value: Any) -> Values:
    """daemon.json by its digest, since the text may hold passwords (facts/daemon_json.py)."""
    texts = {}
    for file in value or ():
        content = file["content"]
        texts[f"{name} {file['path']}"] = content and f"sha256 {content['sha256'][:12]}"
    return texts


def _modes(name: str, value: Any) -> Values:
    return {f"{name} of gpu {gpu['gpu']}": gpu["current"] for gpu in value or ()}


def _packages(name: str, value: Any) -> Values:
    """Those that are installed: dpkg's second letter is c where only its settings are left."""
    there = (package for package in value or () if not package["status"].startswith(_REMOVED))
    return _together((f"{name} {package['name']}", package["version"]) for package in there)


def _modules(name: str, value: Any) -> Values:
    return _together(
        (f"{name} for {module['kernel']}", module["version"]) for module in value or ()
    )


def _holds(name: str, value: Any) -> Values:
    return _together((f"{name} {hold['pattern']}", hold["by"]) for hold in value or ())


def _together(pairs: Iterable[tuple[str, str | None]]) -> Values:
    """All that goes by one name, in no order: a package of two machines, rpm's of two versions."""
    found: dict[str, set[str]] = {}
    for name, value in pairs:
        found.setdefault(name, set()).update([value] if value is not None else [])
    return {name: ", ".join(sorted(values)) or None for name, values in found.items()}


def _specs(name: str, value: Any) -> Values:
    return {f"{name} {spec['path']}": spec["driver"] for spec in value or ()}


LASTING: tuple[tuple[str, str, _Shape], ...] = (
    ("kernel", "machine.kernel", _one),
    ("system", "machine.os_name", _one),
    ("cgroup hierarchy", "cgroup.mode", _one),
    ("systemd", "systemd_manager.version", _one),
    ("docker", "docker_engine.info.server_version", _one),
    ("docker's cgroup driver", "docker_engine.info.cgroup_driver", _one),
    ("docker's live-restore", "docker_engine.info.live_restore", _one),
    ("docker's default runtime", "docker_engine.info.default_runtime", _one),
    ("configuration", "daemon_json.files", _config),
    ("runc", "runtime_versions.runc", _one),
    ("crun", "runtime_versions.crun", _one),
    ("containerd", "runtime_versions.containerd", _one),
    ("cri-o", "runtime_versions.crio", _one),
    ("loaded driver", "nvidia_driver.module.loaded", _one),
    ("flavour of the driver", "nvidia_driver.module.flavour", _one),
    ("driver on disk", "nvidia_driver.module.disk", _modules),
    ("driver library", "nvidia_driver.libraries.resolved.version", _one),
    ("package", "nvidia_driver.packages.dpkg", _packages),
    ("package", "nvidia_driver.packages.rpm", _packages),
    ("hold on", "package_holds.holds", _holds),
    ("container toolkit", "container_toolkit.version", _one),
    ("mode of the container toolkit", "container_toolkit.config.mode", _one),
    ("no-cgroups of the container toolkit", "container_toolkit.config.no_cgroups", _one),
    ("driver named by CDI", "container_toolkit.specs", _specs),
    ("kubelet", "kubelet.version", _one),
    ("kubelet's cgroup driver", "kubelet.cgroup_driver", _one),
    ("GPU Operator", "cluster.operator.version", _one),
    ("CDI of the GPU Operator", "cluster.policy.cdi", _one),
    ("device plugin", "cluster.plugin.release.version", _one),
    ("device specs of the device plugin", "cluster.plugin.passes", _one),
    ("MIG mode", "mig.modes", _modes),
)
"""Name, path in the document's ``facts`` (fields of facts.node.NodeState), and its shape."""


class _Untold(Exception):
    """The node did not say, or the document is of another version of this program."""


def differences(before: Any, after: Any) -> Iterator[tuple[str, str | None, str | None]]:
    """Every lasting fact that both documents know and that is not the same: name, before, after."""
    for name, path, shape in LASTING if before is not None and after is not None else ():
        try:
            old, new = shape(name, _at(before, path)), shape(name, _at(after, path))
        except (_Untold, KeyError, TypeError, AttributeError):
            continue
        for subject in {**old, **new}:
            if old.get(subject) != new.get(subject):
                yield subject, old.get(subject), new.get(subject)


def _at(facts: Any, path: str) -> Any:
    """The value at a path; below what a node does not have there is nothing either."""
    value = facts
    for step in path.split("."):
        if value is None:
            break
        value = value[step]
        if isinstance(value, Mapping) and set(value) == {"unknown"}:
            raise _Untold
    if isinstance(value, list) and any(_unknown(item) for item in value):
        raise _Untold
    return value


def _unknown(item: Any) -> bool:
    return isinstance(item, Mapping) and any(
        isinstance(part, Mapping) and "unknown" in part for part in item.values()
    )
