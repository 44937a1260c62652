"""The containers of this node that have NVIDIA devices: how they ask, what they are allowed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from typing_extensions import override

from pyinfra_nvml.facts import container_devices, docker_inspect, scopes
from pyinfra_nvml.facts.container_devices import ContainerProcess, OpenedNode
from pyinfra_nvml.facts.daemons import Daemons
from pyinfra_nvml.facts.docker_inspect import Inspected, Request
from pyinfra_nvml.facts.oci_container import OciContainer
from pyinfra_nvml.facts.oci_specs import PROBE as SPECS
from pyinfra_nvml.facts.oci_specs import OciSpecs, OciSpecsState
from pyinfra_nvml.facts.probe import Sections, section
from pyinfra_nvml.facts.scopes import Scope
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value


@dataclass(frozen=True)
class GpuContainer(Value):
    """One running container with NVIDIA devices, or that asked Docker for them.

    ``scope`` is the systemd unit that holds it (``None``: systemd does not), ``nodes`` are the
    NVIDIA nodes of its /dev with the answer an open from within its cgroup got; ``inspected`` is
    ``None`` where Docker does not know it, ``spec`` where no runtime keeps one under /run; ``pid``
    is 0 where it was not entered.

    .. code:: python

        GpuContainer(id="4f66...", name="trainer", engine="docker",
                     cgroup="/system.slice/docker-4f66....scope",
                     scope=Scope("docker-4f66....scope", "strict", ("char-136 rwm",)),
                     nodes=(OpenedNode("nvidiactl", 195, 255, "OK"),), inspected=Inspected(...))
    """

    id: str
    name: str
    engine: str
    cgroup: str | Unknown
    scope: Scope | Unknown | None
    nodes: tuple[OpenedNode, ...] | Unknown
    devices_list: tuple[str, ...] | None = None
    pid: int = 0
    inspected: Inspected | None = None
    spec: OciContainer | Unknown | None = None

    @property
    def requests(self) -> tuple[Request, ...]:
        """How it asked its engine for a GPU, as far as Docker tells: ``(Request.GPUS,)``."""
        return self.inspected.requests if self.inspected else ()

    @property
    def pod(self) -> bool:
        """Whether it belongs to a Kubernetes pod."""
        spec = None if isinstance(self.spec, Unknown) else self.spec
        labelled = any(known is not None and known.pod for known in (self.inspected, spec))
        return labelled or "kubepods" in str(self.cgroup)


@dataclass(frozen=True)
class GpuContainersState(Value):
    """All of them; ``unseen`` says which of the two ways to find them failed, and why."""

    containers: tuple[GpuContainer, ...]
    unseen: tuple[Unknown, ...] = ()


class GpuContainers(Source[GpuContainersState]):
    """The running containers with NVIDIA devices, of Docker and of every other runtime.

    Sources: ``docker inspect`` (how they ask), /proc mount namespaces whose /dev holds NVIDIA
    nodes (which they are, any runtime; as root), ``systemctl show`` of their scopes, their OCI
    specs (how the GPU came in; as root).
    """

    probes = (docker_inspect.PROBE, container_devices.PROBE, scopes.PROBE, SPECS, *Daemons.probes)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> GpuContainersState | Unknown:
        rows = docker_inspect.containers(section(sections, docker_inspect.PROBE.name))
        if isinstance(rows, Unknown) and _no_dockerd(sections):
            rows = {}
        walk = section(sections, container_devices.PROBE.name)
        inside = container_devices.inhabitants(walk)
        units = scopes.scopes(section(sections, scopes.PROBE.name))
        # A walk that hung keeps those that it came to; the others were not looked into.
        ended = inside if isinstance(inside, Unknown) else walk.trouble
        unseen = tuple(part for part in (rows, ended) if isinstance(part, Unknown))
        known = {} if isinstance(rows, Unknown) else rows
        found: dict[str, GpuContainer] = {}
        for one in () if isinstance(inside, Unknown) else inside:
            found.setdefault(one.id or one.cgroup, _entered(known.get(one.id), one, units))
        for identity, row in known.items():
            if identity not in found and set(row.requests) - {Request.PRIVILEGED}:
                found[identity] = _unentered(row, ended or (), units)
        specs = OciSpecs.judged(sections)
        told = (_with_spec(container, _spec(specs, container.id)) for container in found.values())
        return GpuContainersState(tuple(sorted(told, key=lambda one: (one.name, one.id))), unseen)


Containers = GpuContainers  # the name before 0.2


def _spec(specs: OciSpecsState | Unknown, identity: str) -> OciContainer | Unknown | None:
    if isinstance(specs, Unknown):
        return specs
    return next((one for one in specs.containers if one.id == identity), None)


def _with_spec(container: GpuContainer, spec: OciContainer | Unknown | None) -> GpuContainer:
    """The container with its spec, and with the name that Kubernetes gave it."""
    if spec is None or isinstance(spec, Unknown):
        return replace(container, spec=spec)
    unnamed = container.inspected is None and bool(spec.name)
    return replace(container, spec=spec, name=spec.name if unnamed else container.name)


def _no_dockerd(sections: Sections) -> bool:
    """Whether it is certain that no dockerd runs here, and so no container of it."""
    daemons = Daemons.judged(sections)
    return not (isinstance(daemons, Unknown) or daemons.hidden or daemons.named("dockerd"))


def _entered(
    row: Inspected | None, one: ContainerProcess, units: dict[str, Scope] | Unknown
) -> GpuContainer:
    cgroup = one.cgroup or Unknown("its control group is not in /proc")
    return GpuContainer(
        id=one.id,
        name=row.name if row and row.name else _call(one),
        engine="docker" if row else _engine(one.cgroup),
        cgroup=cgroup,
        # What holds a system container (lxc, nspawn) is above its own init's control group.
        scope=_scope(cgroup, units) if one.id or not one.cgroup else None,
        nodes=one.nodes,
        devices_list=one.devices_list,
        pid=one.pid,
        inspected=row,
    )


def _unentered(
    row: Inspected, nodes: Unknown | tuple[()], units: dict[str, Scope] | Unknown
) -> GpuContainer:
    """A container that asked for a GPU and that the walk through /proc did not enter.

    Its scope is found by its id; where no scope has it, only /proc could tell what holds it.
    """
    held = {} if isinstance(units, Unknown) else units
    path = next((path for path in held if row.id in path), None)
    cgroup = path or Unknown("its control group: want root to look into /proc")
    return GpuContainer(
        row.id, row.name, "docker", cgroup, _scope(cgroup, units), nodes, inspected=row
    )


def _scope(cgroup: str | Unknown, units: dict[str, Scope] | Unknown) -> Scope | Unknown | None:
    if isinstance(cgroup, Unknown):
        return cgroup
    if isinstance(units, Unknown):
        return units
    # A process may sit below its container's scope (an init of its own, podman with crun); the
    # device filters of every cgroup above it hold for it too (cgroups(7)).
    places = cgroup.split("/")
    # A user's systemd (rootless podman and Docker) may set no device filter: BPF wants root.
    if re.match(r"/user\.slice/user-\d+\.slice/user@\d+\.service/", cgroup):
        return None
    for depth in range(len(places), 1, -1):
        if scope := units.get("/".join(places[:depth])):
            return scope
    if name := next((p for p in places if re.search(r"-[0-9a-f]{64}\.scope$", p)), None):
        return Unknown(f"scope {name}: not a unit of this node's systemd")
    return None


_ENGINES = {
    "nerdctl": "nerdctl",
    "cri-containerd": "containerd",
    "crio": "cri-o",
    "libpod": "podman",
    "lxc": "lxc",
    "docker": "docker",
    "kubepods": "containerd",
    "payload": "systemd-nspawn",
}


def _engine(cgroup: str) -> str:
    return next((engine for mark, engine in _ENGINES.items() if mark in cgroup), "other")


def _call(one: ContainerProcess) -> str:
    return one.id[:12] or one.cgroup or f"process {one.pid}"
