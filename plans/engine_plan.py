"""What deploys/fix_cgroup.py would do to a node: changes with their cost, or every refusal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from pyinfra_nvml.combiners.daemon_document import Refused, document
from pyinfra_nvml.combiners.driver_entry import named_drivers
from pyinfra_nvml.combiners.engine import of_node
from pyinfra_nvml.combiners.engine_config import given_flags
from pyinfra_nvml.combiners.exposure import exposed
from pyinfra_nvml.facts.daemon_json import DEFAULT
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.facts.gpu_containers import GpuContainer
from pyinfra_nvml.facts.gpu_processes import GpuProcessesState
from pyinfra_nvml.facts.last_write import LastWriteState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Refusal, not_overruled
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.daemon_change import change, file_at
from pyinfra_nvml.plans.engine_refusals import engine_refusals
from pyinfra_nvml.plans.no_cure import why_no_cure
from pyinfra_nvml.plans.restart_impact import RestartImpact, restart_impact
from pyinfra_nvml.plans.unproven_config import unproven_config


@dataclass(frozen=True)
class Plan:
    """The way of one node to the wanted driver.

    ``write`` and ``restart`` say which steps are needed; ``idle`` says why none is. ``stops`` are
    the containers that a restart stops, ``exposed`` those that are to be proven afterwards. With an
    ``engine`` and nothing to do, a restart that was interrupted may still have to be ended.
    """

    driver: str
    path: str = DEFAULT
    refusals: tuple[Refusal, ...] = ()
    before: bytes | None = None
    after: bytes | None = None
    restart: bool = False
    live_restore: bool = False
    stops: tuple[Inspected, ...] = ()
    exposed: tuple[GpuContainer, ...] = ()
    work: GpuProcessesState | Unknown | None = None
    idle: str = ""
    engine: bool = True
    restores: bool = False

    @property
    def write(self) -> bool:
        """Whether daemon.json is written."""
        return self.after is not None and not self.refusals

    @property
    def acts(self) -> bool:
        """Whether anything is changed or proven on this node."""
        return (self.write or self.restart or bool(self.exposed)) and not self.refusals

    @property
    def parting(self) -> frozenset[str]:
        """Ids of containers that the restart ends for good: --rm, and tasks of an orchestrator."""
        return frozenset(
            one.id for one in self.stops if one.auto_remove or one.service or one.ecs_cluster
        )


def plan_engine(
    node: NodeState,
    driver: str,
    only_exposed: bool = False,
    overrule: Collection[str] = (),
    last: LastWriteState | None = None,
) -> Plan:
    """The plan for one node; nothing that could not be read is taken to be fine.

    ``last`` is this project's last write there, where it is known: what it wrote is no edit of
    somebody else's.
    """
    engine = node.docker_engine
    if engine is None:
        return Plan(driver, idle="no Docker engine on this node", engine=False)
    if isinstance(engine, Unknown):
        want = "it readable, as root and with the engine up"
        return Plan(driver, refusals=(Refusal("Docker engine", engine.reason, want),))
    if node.podman:
        return Plan(driver, idle="docker is podman here: it reads no daemon.json", engine=False)
    endangered = _exposed(node)
    if only_exposed and not endangered and not _unseen(node):
        return Plan(driver, idle="only_exposed: no container is exposed", engine=False)
    settled = _settled(engine, node, driver)
    if settled and not endangered:
        return Plan(driver, of_node(node).path, idle=f"the engine is on {driver} already")
    vain = why_no_cure(node, engine.info, driver, overrule)
    if isinstance(vain, str) and vain:
        return Plan(driver, of_node(node).path, idle=vain, engine=False)
    if settled and not vain:
        return Plan(driver, of_node(node).path, exposed=endangered)
    made = _change(node, engine, driver, endangered, last)
    against = (vain,) if isinstance(vain, Refusal) else ()
    return replace(made, refusals=not_overruled((*made.refusals, *against), overrule))


def _change(
    node: NodeState,
    engine: DockerEngineState,
    driver: str,
    endangered: tuple[GpuContainer, ...],
    last: LastWriteState | None,
) -> Plan:
    starts = of_node(node)
    path = starts.path
    info = engine.info if isinstance(engine.info, EngineInfo) else None
    reasons = list(engine_refusals(node, engine, driver))
    found = change(node.daemon_json, starts, driver)
    if isinstance(found, Refused):
        return Plan(driver, path, (*reasons, as_refusal(found)))
    flag = given_flags(starts.arguments).get("exec-opts", "")
    instead = {"exec-opts": f"take {flag} out of the unit, then run this again"} if flag else {}
    reasons += [as_refusal(one, instead.get(one.subject, "")) for one in found.against]
    restart = info is None or info.cgroup_driver != driver
    cost = restart_impact(node, engine, found.after, driver) if restart else RestartImpact()
    reasons += unproven_config(node, engine, last)
    return Plan(
        driver,
        path,
        (*reasons, *cost.against),
        found.before,
        found.after if found.needed else None,
        restart,
        cost.live_restore,
        cost.stops,
        endangered,
        node.gpu_processes if restart else None,
    )


def _settled(engine: DockerEngineState, node: NodeState, driver: str) -> bool:
    """Whether the engine has the driver now and nothing names another for its next start."""
    if isinstance(engine.info, Unknown) or engine.info.cgroup_driver != driver:
        return False
    path = of_node(node).path
    file = file_at(node.daemon_json, path)
    if isinstance(file, Refused):
        return False
    found = document(file.content if isinstance(file.content, bytes) else None, path)
    if isinstance(found, Refused):
        return False
    return all(named == driver for named in named_drivers(found))


def _exposed(node: NodeState) -> tuple[GpuContainer, ...]:
    """Docker's own containers that have lost a device, or that systemd would take one from."""
    found = node.gpu_containers
    if isinstance(found, Unknown):
        return ()
    return tuple(one for one in found.containers if one.engine == "docker" and exposed(one))


def _unseen(node: NodeState) -> bool:
    found = node.gpu_containers
    return isinstance(found, Unknown) or bool(found.unseen)


def as_refusal(refused: Refused, instead: str = "") -> Refusal:
    """A file's refusal as one of the node's."""
    return Refusal(refused.subject, refused.saw, refused.want, instead)
