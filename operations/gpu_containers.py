"""The proof: containers that were exposed are out of systemd's hands and reach their devices."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from pyinfra import host, logger
from pyinfra.api import FunctionCommand, Host, State, operation

from audit.knobs import knobs
from audit.proof import shortcomings
from audit.session import session
from facts.unknown import Unknown


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


def _prove(state: State, host: Host, driver: str, exposed: dict[str, str]) -> bool:
    verdict = session(state, knobs(host)).ask(host)
    if isinstance(verdict.state, Unknown):
        missed = [f"node: saw {verdict.state.reason}, want it to answer"]
    else:
        missed = list(shortcomings(verdict.state, driver, exposed))
    for line in missed:
        host.log_styled(f"not proven: {line}", fg="red", log_func=logger.error)
    if not missed:
        names = ", ".join(exposed.values()) or "no container was exposed"
        host.log_styled(f"proven: driver {driver}; {names}", fg="green", log_func=logger.info)
    return not missed
