"""Which containers may see, or change, what lies beyond their own MIG instance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyinfra_nvml.combiners.gpu_injection import gpus_by_hook, runtime_is_cdi
from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.docker_inspect import Inspected, Request
from pyinfra_nvml.facts.gpu_operator import OPERANDS
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.oci_container import Injection, OciContainer
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown

MONITOR = "NVIDIA_MIG_MONITOR_DEVICES"
CONFIG = "NVIDIA_MIG_CONFIG_DEVICES"

_IGNORED_UP_TO = (1, 20, 0)
"""The last toolkit whose jit-cdi mode reads neither variable (NVIDIA/nvidia-container-toolkit#1947,
NVIDIA's page "Support for CDI" of 1.20.1). Its mode cdi, with specs from files, reads none since.
"""

_SYS_ADMIN = {"SYS_ADMIN", "CAP_SYS_ADMIN", "ALL", "CAP_ALL"}
_NOTHING = ("", "void", "none")


@dataclass(frozen=True)
class Holder:
    """A container with a GPU, and what bears on its rights.

    ``native``: Docker gave the GPU by CDI itself, and no program of NVIDIA's saw its variables.
    ``monitor_node``, ``config_node``: the right's own device node was passed.
    """

    name: str
    pod: str
    image: str
    environment: tuple[str, ...]
    sys_admin: bool
    cdi: bool
    native: bool = False
    monitor_node: bool = False
    config_node: bool = False

    def value(self, variable: str) -> str:
        """What a variable is set to, empty where it is not set or says nothing."""
        found = [e.partition("=")[2] for e in self.environment if e.startswith(f"{variable}=")]
        return "" if not found or found[-1] in _NOTHING else found[-1]

    @property
    def operand(self) -> bool:
        """Whether it is a pod of NVIDIA's own Kubernetes stack, which sets these by design."""
        plain = self.image.partition("@")[0].rpartition("/")[2].partition(":")[0]
        return bool(self.pod) and "nvidia" in self.image and plain in OPERANDS

    @property
    def names(self) -> tuple[str, ...]:
        """What the setting ``mig_monitors`` may call it by: name, pod, image."""
        return (self.name, self.pod, self.image)


def holders(node: NodeState) -> tuple[tuple[Holder, ...], tuple[Unknown, ...]]:
    """The running containers with a GPU, of Docker and of other runtimes; and what was not read."""
    unread = [part for part in (node.docker_inspect, node.oci_specs) if isinstance(part, Unknown)]
    rows = () if isinstance(node.docker_inspect, Unknown) else node.docker_inspect.containers
    specs = () if isinstance(node.oci_specs, Unknown) else node.oci_specs.containers
    by_id = {spec.id: spec for spec in specs}
    by_cdi = _cdi_requests(node)
    found = [_docker(row, by_id.get(row.id), by_cdi) for row in rows]
    known = {row.id for row in rows}
    found += [_other(spec) for spec in specs if spec.id not in known]
    return tuple(one for one in found if one), tuple(_that_matter(node, unread))


def variable_read(one: Holder, toolkit: ContainerToolkitState | Unknown | None) -> bool | Unknown:
    """Whether somebody reads the MIG variables when this container starts."""
    if not one.cdi:
        return True
    if one.native or toolkit is None:
        return False
    return toolkit if isinstance(toolkit, Unknown) else runtime_reads(toolkit)


def runtime_reads(toolkit: ContainerToolkitState) -> bool | Unknown:
    """Whether the runtime ``nvidia``, as it is set up here, reads the MIG variables."""
    cdi = runtime_is_cdi(toolkit)
    if isinstance(cdi, Unknown) or not cdi:
        return cdi if isinstance(cdi, Unknown) else True
    config = toolkit.config
    if config is not None and not isinstance(config, Unknown) and config.mode == "cdi":
        return False
    if not isinstance(toolkit.version, str):
        return toolkit.version or Unknown("container toolkit: no version found")
    return (release(toolkit.version) or ()) > _IGNORED_UP_TO


def _that_matter(node: NodeState, unread: list[Unknown]) -> Iterator[Unknown]:
    """Docker's answer matters where dockerd runs, the specs where another runtime has pods."""
    for part in unread:
        if (part is node.docker_inspect and node.docker_engine is not None) or (
            part is node.oci_specs and node.kubelet is not None
        ):
            yield part


def _cdi_requests(node: NodeState) -> set[Request]:
    """The ways of asking Docker that end in CDI on this node, by its settings."""
    ways = {Request.CDI}
    toolkit, info = node.container_toolkit, node.engine_info
    if toolkit is None or isinstance(toolkit, Unknown):
        return ways
    if runtime_is_cdi(toolkit) is True:
        ways.add(Request.RUNTIME)
    if isinstance(info, EngineInfo) and gpus_by_hook(toolkit, info) is False:
        ways.add(Request.GPUS)
    return ways


def _docker(row: Inspected, spec: OciContainer | None, by_cdi: set[Request]) -> Holder | None:
    wants = set(row.requests)
    visible = any(re.match(r"NVIDIA_VISIBLE_DEVICES=(?!$|void$|none$)", e) for e in row.environment)
    # An image sets the variable too; it gives a GPU only to who asked, or sees all of /dev anyway.
    if not (wants - {Request.PRIVILEGED} or (Request.PRIVILEGED in wants and visible)):
        return None
    # The spec is what was done; the settings are those of today.
    cdi = Injection.CDI in spec.injection if spec else bool(wants & by_cdi)
    return Holder(
        name=row.name,
        pod=row.pod,
        image=row.image,
        environment=row.environment,
        sys_admin=Request.PRIVILEGED in wants or bool(_SYS_ADMIN & set(row.capabilities)),
        cdi=cdi,
        native=cdi and Request.RUNTIME not in wants,
        monitor_node=Request.MIG_MONITOR in wants,
        config_node=Request.MIG_CONFIG in wants,
    )


def _other(spec: OciContainer) -> Holder | None:
    ways = set(spec.injection)
    visible = (spec.variable("NVIDIA_VISIBLE_DEVICES") or "") not in _NOTHING
    privileged = Injection.PRIVILEGED in ways
    given = ways & {Injection.LEGACY, Injection.CDI}
    if not (given or (Injection.DEVICES in ways and not privileged) or (privileged and visible)):
        return None
    return Holder(
        name=spec.name or spec.id[:12],
        pod=spec.pod,
        image=spec.image,
        environment=spec.environment,
        sys_admin=spec.sys_admin,
        cdi=Injection.CDI in ways and Injection.LEGACY not in ways,
        # A privileged one has every node of the host.
        monitor_node=Injection.MIG_MONITOR in ways and not privileged,
        config_node=Injection.MIG_CONFIG in ways and not privileged,
    )
