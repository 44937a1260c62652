"""Whether a container's devices are in systemd's books: who holds it, and what would take them.

The pattern was measured on systemd 247, 252, 257 and 262 with Docker 20.10 to 28.5 (docs/lab.md):
a scope with ``DevicePolicy=strict`` and no rule for the NVIDIA nodes loses them at the next
change of the unit, a recent runc (1.3.6) included; with a rule, or outside any scope, it keeps
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.facts.container_devices import OpenedNode
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.mig import CONFIG_NODE, MONITOR_NODE
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT
from pyinfra_nvml.facts.oci_container import Injection
from pyinfra_nvml.facts.scopes import NVIDIA_MAJOR, Scope
from pyinfra_nvml.model.finding import NotApplicable, Undetermined
from pyinfra_nvml.model.unknown import Unknown

_CONTROL_NODE = (("nvidiactl", NVIDIA_MAJOR, 255),)
"""What every container with a GPU has: NVML opens it first."""


_APPLIES_AGAIN = 230
"""From systemd 230 on the scopes that runc makes count as changed (opencontainers/runc#4568; GPUs
kept with 219, nvidia-container-toolkit#251)."""


@dataclass(frozen=True)
class MissingRules:
    """The names of those nodes that no rule of the container's scope allows; empty is safe."""

    scope: Scope | None
    missing: tuple[str, ...]


def missing_rules(container: GpuContainer) -> MissingRules | Unknown:
    """What systemd would take from this container when it next writes the device filter."""
    scope = container.scope
    if isinstance(scope, Unknown):
        return scope
    if scope is None:
        return MissingRules(None, ())
    missing = tuple(
        name for name, major, minor in _nodes(container) if not scope.allows(major, minor)
    )
    if missing and scope.program:
        return _by_program(container, scope, missing)
    if missing and isinstance(container.nodes, Unknown) and scope.allows_any(NVIDIA_MAJOR):
        return Unknown(f"which nodes it has: {container.nodes.reason}")
    return MissingRules(scope, missing)


def _by_program(
    container: GpuContainer, scope: Scope, missing: tuple[str, ...]
) -> MissingRules | Unknown:
    """A filter that nobody can read is crun's, made of the devices in the container's spec: the
    legacy hook's are not in there, and systemd puts it back as it was (containers/crun#1854)."""
    spec = container.spec
    if spec is None or isinstance(spec, Unknown):
        return spec or Unknown(f"{scope.name}: its device program was not read, nor a spec of it")
    own = {Injection.CDI, Injection.DEVICES, Injection.PRIVILEGED} & set(spec.injection)
    return MissingRules(scope, () if own else missing)


def denied_devices(container: GpuContainer) -> tuple[str, ...]:
    """The names of its nodes that the device cgroup refuses now."""
    if isinstance(container.nodes, Unknown):
        return ()
    return tuple(node.name for node in _given(container.nodes) if node.refused)


def exposed(container: GpuContainer) -> bool:
    """Whether it has lost a device, or systemd would take one from it."""
    behind = missing_rules(container)
    return bool(denied_devices(container)) or (
        not isinstance(behind, Unknown) and bool(behind.missing)
    )


def triggers(systemd: int | None) -> str:
    """What takes an unlisted device away, on this version of systemd.

    A daemon-reload or re-execution (an update of systemd's package does one) spared the device on
    systemd 257 and on no other version measured, and by reports on those before 230.
    """
    change = "any change of its scope (`systemctl set-property`, `docker update`)"
    if systemd is not None and systemd < _APPLIES_AGAIN:
        return f"{change}; a `systemctl daemon-reload` was reported to spare it before systemd 230"
    if systemd == 257:
        return f"{change}; a `systemctl daemon-reload` was seen to spare it on systemd 257 only"
    return f"a `systemctl daemon-reload` (package installs do that), or {change}"


def _nodes(container: GpuContainer) -> tuple[tuple[str, int, int], ...]:
    if isinstance(container.nodes, Unknown):
        return _CONTROL_NODE
    return tuple((node.name, node.major, node.minor) for node in _given(container.nodes))


def _given(nodes: tuple[OpenedNode, ...]) -> tuple[OpenedNode, ...]:
    """Those that the container may open: a MIG monitor sees the nodes of every instance, and is
    given its right's alone (libnvidia-container mounts the whole directory, nvc_mount.c)."""
    rights = {node.removeprefix("/dev/") for node in (CONFIG_NODE, MONITOR_NODE)}
    monitor = any(node.name in rights for node in nodes)
    return tuple(node for node in nodes if not (monitor and node.capability))


def gpu_containers_seen(
    node: NodeState,
) -> tuple[tuple[GpuContainer, ...], tuple[Undetermined | NotApplicable, ...]]:
    """The node's containers with NVIDIA devices, and what has to be said of those not seen."""
    found = node.gpu_containers
    if isinstance(found, Unknown):
        return (), (Undetermined("containers", found.reason),)
    if not found.containers and node.nvidia_driver is None:
        return (), (NotApplicable(ABSENT),)
    doubts = tuple(Undetermined("containers", unseen.reason) for unseen in found.unseen)
    if not found.containers and not doubts:
        return (), (NotApplicable("no running container has an NVIDIA device"),)
    return found.containers, doubts


def systemd_version(node: NodeState) -> int | None:
    """The number of this node's systemd, where it has one and says so."""
    if node.systemd_manager is None or isinstance(node.systemd_manager, Unknown):
        return None
    return None if isinstance(node.systemd_manager.number, Unknown) else node.systemd_manager.number
