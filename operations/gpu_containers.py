"""The proof: containers that were exposed are out of systemd's hands and reach their devices."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from pyinfra.api import FunctionCommand, Host, QuoteString, State, StringCommand, operation
from pyinfra.context import ctx_state, host

from audit.engine.proof import shortcomings
from audit.exposure import exposed as exposed_now
from audit.knobs import knobs
from audit.session import session
from facts.node import NodeState
from facts.unknown import Unknown
from operations import proof


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
    yield FunctionCommand(_prove, (driver, dict(exposed)), {})


_RESTART = ("env", "-u", "DOCKER_HOST", "DOCKER_CONTEXT=default", "docker", "restart")
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
    state = session(ctx_state.get(), knobs(host)).ask(host).state
    left = {} if isinstance(state, Unknown) else _left_behind(state, exposed)
    for identity, name in left.items():
        yield StringCommand(*_RESTART, QuoteString(identity), _timeout=_STOP_LIMIT)
        yield FunctionCommand(_prove, (driver, {identity: name}), {})
    if not left:
        host.noop("no container is left in its old scope")


def _left_behind(node: NodeState, exposed: Mapping[str, str]) -> dict[str, str]:
    found = node.gpu_containers
    containers = () if isinstance(found, Unknown) else found.containers
    return {one.id: exposed[one.id] for one in containers if one.id in exposed and exposed_now(one)}


def _prove(state: State, host: Host, driver: str, exposed: dict[str, str]) -> bool:
    verdict = session(state, knobs(host)).ask(host)
    if isinstance(verdict.state, Unknown):
        missed = [f"node: saw {verdict.state.reason}, want it to answer"]
    else:
        missed = list(shortcomings(verdict.state, driver, exposed))
    names = ", ".join(exposed.values()) or "no container was exposed"
    return proof.told(host, missed, f"driver {driver}; {names}")
