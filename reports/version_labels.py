"""The versions of a node as labels: a version, ``none``, or ``unknown``; never an empty one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyinfra_nvml.audit.fact_paths import FactPath, Untold, fact_at

NONE = "none"
UNKNOWN = "unknown"

Facts = Mapping[str, Any]
"""The facts of a recorded node (``audit.record.RecordedVerdict.facts``)."""


def driver_labels(facts: Facts) -> dict[str, str]:
    """The two halves of NVIDIA's driver.

    .. code:: python

        {"loaded": "550.90.07", "installed": "550.107.02", "library": "550.107.02"}
    """
    return {
        "loaded": _label(facts, _at(FactPath.MODULE_LOADED)),
        "installed": _label(facts, _on_disk),
        "library": _label(facts, _library),
    }


def engine_labels(facts: Facts) -> dict[str, str]:
    """The engine with its cgroup driver, and the node's hierarchy.

    .. code:: python

        {"version": "26.1.5+dfsg1", "cgroup_driver": "systemd", "hierarchy": "v2"}
    """
    return {
        "version": _label(facts, _at(FactPath.DOCKER)),
        "cgroup_driver": _label(facts, _at(FactPath.DOCKER_CGROUP_DRIVER)),
        "hierarchy": _label(facts, _at(FactPath.HIERARCHY)),
    }


def _at(path: FactPath) -> Callable[[Facts], Any]:
    return lambda facts: fact_at(facts, path)


def _on_disk(facts: Facts) -> Any:
    """The version of the running kernel's module, as NvidiaModule.on_disk has it."""
    kernel = fact_at(facts, FactPath.MODULE_KERNEL)
    for module in fact_at(facts, FactPath.MODULE_ON_DISK) or ():
        if fact_at(module, "kernel") == kernel:
            return fact_at(module, "version")
    return None


def _library(facts: Facts) -> Any:
    """The container's own, else that in the library's name; one without a version is unknown."""
    if _told(facts, FactPath.CONTAINED_LIBRARY):
        return fact_at(facts, FactPath.CONTAINED_LIBRARY)
    if fact_at(facts, FactPath.LIBRARY) is None:
        return None
    version = fact_at(facts, FactPath.LIBRARY_VERSION)
    if version is None or fact_at(facts, FactPath.LIBRARY_EXISTS) is not True:
        raise Untold
    return version


def _told(facts: Facts, path: FactPath) -> bool:
    try:
        return isinstance(fact_at(facts, path), str)
    except Untold:
        return False


def _label(facts: Facts, read: Callable[[Facts], Any]) -> str:
    try:
        value = read(facts)
    except Untold:
        return UNKNOWN
    if value is None:
        return NONE
    return value if isinstance(value, str) and value else UNKNOWN
