"""Containers that were exposed: restarted where an engine kept them, and proven to be cured."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping

from pyinfra.api import FunctionCommand, Host, QuoteString, State, StringCommand, operation
from pyinfra.context import ctx_state, host

from pyinfra_nvml.combiners.exposure import exposed as exposed_now
from pyinfra_nvml.facts.docker_cli import ELSEWHERE
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.fleet.session import session
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import proof
from pyinfra_nvml.plans.cure_proof import again, cure_shortcomings
from pyinfra_nvml.plans.engine_plan import Plan
from pyinfra_nvml.settings.reading import read_settings


@operation(is_idempotent=False, idempotent_notice="It looks at the node, and changes nothing.")
def reachable(
    driver: str, exposed: Mapping[str, str], wanted: bool = True
) -> Generator[FunctionCommand, None, None]:
    """
    Every container that was exposed is looked at again: out of its scope, each device opened.

    + driver: the cgroup driver that the engine is to have
    + exposed: id to name of the containers that were exposed before
    + wanted: False where nothing was done and nothing is to be proven

    **Example:**

    .. code:: python

        gpu_containers.reachable(driver="cgroupfs", exposed={"4f66...": "trainer"})
    """
    if not wanted:
        host.noop("nothing was exposed and nothing is changed")
        return
    turn = _turn(host)
    parting = turn.parting if turn else frozenset[str]()
    yield FunctionCommand(_prove, (driver, _exposed(host, exposed), parting), {})


def _turn(host: Host) -> Plan | None:
    """The plan of the second look, when the host's turn came; none where it did not."""
    return session(ctx_state.get(), read_settings(host)).rechecked.get(host.name)


def _exposed(host: Host, before: Mapping[str, str]) -> dict[str, str]:
    """Those that were exposed when the host's turn came; those of the first look without one."""
    turn = _turn(host)
    return {one.id: one.name for one in turn.exposed} if turn else dict(before)


_RESTART = (
    "env",
    *(word for name in ELSEWHERE for word in ("-u", name)),
    "DOCKER_CONTEXT=default",
    "docker",
    "restart",
)
_STOP_LIMIT = 900
"""Seconds: what docker run --stop-timeout may be set to is waited for."""


@operation()
def restarted(
    driver: str, exposed: Mapping[str, str], wanted: bool = True
) -> Generator[StringCommand | FunctionCommand, None, None]:
    """
    Containers that live-restore left in their scopes are restarted, one by one, each proven.

    + driver: the cgroup driver that the engine is to have
    + exposed: id to name of the containers that were exposed before
    + wanted: False leaves them as they are

    **Example:**

    .. code:: python

        gpu_containers.restarted(driver="cgroupfs", exposed={"4f66...": "trainer"})
    """
    if not wanted or not exposed:
        host.noop("no container is to be restarted")
        return
    state = session(ctx_state.get(), read_settings(host)).ask(host).state
    left = {} if isinstance(state, Unknown) else _left_behind(state, _exposed(host, exposed))
    for identity, name in left.items():
        yield StringCommand(*_RESTART, QuoteString(identity), _timeout=_STOP_LIMIT)
        yield FunctionCommand(_prove, (driver, {identity: name}), {})
    if not left:
        host.noop("no container is left in its old scope")


def _left_behind(node: NodeState, exposed: Mapping[str, str]) -> dict[str, str]:
    found = node.gpu_containers
    containers = () if isinstance(found, Unknown) else found.containers
    return {one.id: exposed[one.id] for one in containers if one.id in exposed and exposed_now(one)}


def _prove(
    state: State, host: Host, driver: str, exposed: dict[str, str], parting: Collection[str] = ()
) -> bool:
    now = session(state, read_settings(host)).ask(host).state
    if isinstance(now, Unknown):
        return proof.report_proof(host, [f"node: saw {now.reason}, want it to answer"], "")
    missed = list(cure_shortcomings(now, driver, exposed, parting))
    there = [name for identity, name in exposed.items() if again(now, identity, name)]
    gone = [name for name in exposed.values() if name not in there]
    names = ", ".join(there + [f"{name} is gone, as told" for name in gone])
    return proof.report_proof(
        host, missed, f"driver {driver}; {names or 'no container was exposed'}"
    )
