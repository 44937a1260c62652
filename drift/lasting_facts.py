"""What of a node's facts is the same from one audit to the next, unless somebody changed it.

Left out is whatever changes by itself: times, process ids, container ids, lines of logs, the boot,
numbers that the kernel assigns again at each boot (the major of nvidia-uvm), and what a finding
tells already (containers, device nodes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyinfra_nvml.audit.fact_paths import FactPath, Untold, fact_at, items_at

_REMOVED = ("rc", "pc", "hc", "uc")
"""dpkg-query(1), ``db:Status-Abbrev``: config-files."""


@dataclass(frozen=True)
class LastingFact:
    """A fact by its name and its place; of a list each item is one.

    ``name`` has the fields that tell items apart in braces, ``value`` is the field that is
    compared, ``status`` that of dpkg's status, ``digest`` whether the value is a long sum.
    """

    name: str
    path: FactPath
    value: str = ""
    status: str = ""
    digest: bool = False


LASTING = (
    LastingFact("kernel", FactPath.KERNEL),
    LastingFact("system", FactPath.SYSTEM),
    LastingFact("cgroup hierarchy", FactPath.HIERARCHY),
    LastingFact("systemd", FactPath.SYSTEMD),
    LastingFact("docker", FactPath.DOCKER),
    LastingFact("docker's cgroup driver", FactPath.DOCKER_CGROUP_DRIVER),
    LastingFact("docker's live-restore", FactPath.DOCKER_LIVE_RESTORE),
    LastingFact("docker's default runtime", FactPath.DOCKER_RUNTIME),
    # By its sum, since the text may hold passwords (facts/daemon_json.py).
    LastingFact("configuration {path}", FactPath.DAEMON_JSON, "content.sha256", digest=True),
    LastingFact("runc", FactPath.RUNC),
    LastingFact("crun", FactPath.CRUN),
    LastingFact("containerd", FactPath.CONTAINERD),
    LastingFact("cri-o", FactPath.CRIO),
    LastingFact("loaded driver", FactPath.MODULE_LOADED),
    LastingFact("flavour of the driver", FactPath.MODULE_FLAVOUR),
    LastingFact("driver on disk for {kernel}", FactPath.MODULE_ON_DISK, "version"),
    LastingFact("driver library", FactPath.LIBRARY_VERSION),
    LastingFact("package {name}", FactPath.DPKG_PACKAGES, "version", status="status"),
    LastingFact("package {name}", FactPath.RPM_PACKAGES, "version", status="status"),
    LastingFact("hold on {pattern}", FactPath.HOLDS, "by"),
    LastingFact("container toolkit", FactPath.TOOLKIT),
    LastingFact("mode of the container toolkit", FactPath.TOOLKIT_MODE),
    LastingFact("no-cgroups of the container toolkit", FactPath.TOOLKIT_NO_CGROUPS),
    LastingFact("driver named by CDI {path}", FactPath.CDI_SPECS, "driver"),
    LastingFact("kubelet", FactPath.KUBELET),
    LastingFact("kubelet's cgroup driver", FactPath.KUBELET_CGROUP_DRIVER),
    LastingFact("GPU Operator", FactPath.GPU_OPERATOR),
    LastingFact("CDI of the GPU Operator", FactPath.GPU_OPERATOR_CDI),
    LastingFact("device plugin", FactPath.DEVICE_PLUGIN),
    LastingFact("device specs of the device plugin", FactPath.DEVICE_PLUGIN_SPECS),
    LastingFact("MIG mode of gpu {gpu}", FactPath.MIG_MODES, "current"),
)


def differences(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Iterator[tuple[str, str | None, str | None]]:
    """Every lasting fact that both audits know and that is not the same: name, before, after."""
    for fact in LASTING if before is not None and after is not None else ():
        try:
            old, new = _values(fact, before or {}), _values(fact, after or {})
        except Untold:
            continue
        for subject in {**old, **new}:
            if old.get(subject) != new.get(subject):
                yield subject, old.get(subject), new.get(subject)


def _values(fact: LastingFact, facts: Mapping[str, Any]) -> dict[str, str | None]:
    """The fact by its name, in words; ``None``: the node has no such thing."""
    if not fact.value:
        value = fact_at(facts, fact.path)
        return {fact.name: None if value is None else str(value)}
    found: dict[str, set[str]] = {}
    for item in items_at(facts, fact.path):
        if fact.status and str(fact_at(item, fact.status)).startswith(_REMOVED):
            continue
        # All that goes by one name, in no order: a package of two machines, or in two versions.
        held = found.setdefault(_name(fact.name, item), set())
        if (said := fact_at(item, fact.value)) is not None:
            held.add(f"sha256 {said[:12]}" if fact.digest else str(said))
    return {name: ", ".join(sorted(values)) or None for name, values in found.items()}


def _name(name: str, item: Mapping[str, Any]) -> str:
    try:
        return name.format_map(item)
    except KeyError:
        raise Untold from None
