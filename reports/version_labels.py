"""The versions of a node as labels: a version, ``none``, or ``unknown``; never an empty one."""

from __future__ import annotations

from collections.abc import Mapping

NONE = "none"
UNKNOWN = "unknown"


def driver_labels(facts: Mapping[str, object]) -> dict[str, str]:
    """The two halves of NVIDIA's driver, from the facts of ``audit.json``.

    .. code:: python

        {"loaded": "550.90.07", "installed": "550.107.02", "library": "550.107.02"}
    """
    module, libraries = (
        _part(facts, "nvidia_driver", "module"),
        _part(facts, "nvidia_driver", "libraries"),
    )
    contained = _part(libraries, "root", "version")
    return {
        "loaded": _label(_part(module, "loaded")),
        "installed": _label(_on_disk(module)),
        "library": _label(contained if isinstance(contained, str) else _library(libraries)),
    }


def engine_labels(facts: Mapping[str, object]) -> dict[str, str]:
    """The engine with its cgroup driver, and the node's hierarchy.

    .. code:: python

        {"version": "26.1.5+dfsg1", "cgroup_driver": "systemd", "hierarchy": "v2"}
    """
    info = _part(facts, "docker_engine", "info")
    return {
        "version": _label(_part(info, "server_version")),
        "cgroup_driver": _label(_part(info, "cgroup_driver")),
        "hierarchy": _label(_part(facts, "cgroup", "mode")),
    }


def _on_disk(module: object) -> object:
    """The version of the running kernel's module, as NvidiaModule.on_disk has it."""
    disk, kernel = _part(module, "disk"), _part(module, "kernel")
    if not isinstance(disk, list) or not isinstance(kernel, str):
        return None if module is None else {UNKNOWN: ""}
    of_kernel = (_part(entry, "version") for entry in disk if _part(entry, "kernel") == kernel)
    return next(of_kernel, None)


def _library(libraries: object) -> object:
    """The version in the library's name; a library that is there without one is unknown."""
    resolved = _part(libraries, "resolved")
    if resolved is None:
        return None
    version = _part(resolved, "version") if _part(resolved, "exists") is True else None
    return version or {UNKNOWN: ""}


def _part(value: object, *path: str) -> object:
    """What lies at the end of the path; what is unknown, or none, on the way there stays so."""
    for key in path:
        if not isinstance(value, Mapping) or UNKNOWN in value:
            return value
        value = value.get(key)
    return value


def _label(value: object) -> str:
    if value is None:
        return NONE
    return value if isinstance(value, str) and value else UNKNOWN
