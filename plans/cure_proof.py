"""Whether a cure held: the engine's driver, and every container that was exposed before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pyinfra_nvml.combiners.exposure import denied_devices, missing_rules
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown


def cure_shortcomings(
    node: NodeState, driver: str, exposed: Mapping[str, str], parting: Collection[str] = ()
) -> Iterator[str]:
    """What is still not as it should be; ``exposed`` is id to name of those exposed before.

    ``parting`` are the ids of those that need not be there any more. Nothing here is taken on
    trust: what cannot be told is a shortcoming.
    """
    info = node.engine_info or Unknown("none on this node")
    if isinstance(info, Unknown):
        yield f"Docker engine: saw {info.reason}, want driver {driver}"
    elif info.cgroup_driver != driver:
        yield f"Docker engine: saw driver {info.cgroup_driver}, want {driver}"
    found = node.gpu_containers
    if isinstance(found, Unknown):
        yield f"containers: saw {found.reason}, want each looked at again"
        return
    for identity, name in exposed.items():
        container = again(node, identity, name)
        if container or identity not in parting:
            yield from _shortcoming(name, container)


def again(node: NodeState, identity: str, name: str) -> GpuContainer | None:
    """This container as it is now; a unit or a program beside Docker may have made it anew."""
    found = node.gpu_containers
    present = () if isinstance(found, Unknown) else found.containers
    same = [one for one in present if one.id == identity]
    return next(iter(same or [one for one in present if name and one.name == name]), None)


def _shortcoming(name: str, container: GpuContainer | None) -> Iterator[str]:
    subject = f"container {name}"
    if container is None:
        yield f"{subject}: saw it not running, want it running with its devices"
        return
    if denied_devices(container):
        yield f"{subject}: saw {', '.join(denied_devices(container))} refused, want it reachable"
    behind = missing_rules(container)
    if isinstance(behind, Unknown):
        yield f"{subject}: saw {behind.reason}, want it out of systemd's hands"
    elif behind.missing:
        yield (
            f"{subject}: saw it still in its old scope, no rule for {', '.join(behind.missing)};"
            f" want it started again (`docker restart {name}`)"
        )
    if isinstance(container.nodes, Unknown):
        yield f"{subject}: saw {container.nodes.reason}, want each device opened"
        return
    for node in container.nodes:
        if isinstance(node.answer, Unknown):
            yield f"{subject}: saw {node.answer.reason}, want /dev/{node.name} opened"
