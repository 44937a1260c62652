"""The reboot of a node: begun on the node, waited for by its boot id, and proven."""

from __future__ import annotations

import time
from collections.abc import Collection, Generator
from contextlib import suppress
from typing import Any

from pyinfra import logger
from pyinfra.api import FunctionCommand, Host, State, StringCommand, operation
from pyinfra.api.state import StateStage
from pyinfra.connectors.local import LocalConnector
from pyinfra.connectors.util import clear_askpass_cache
from pyinfra.context import ctx_state, host

from pyinfra_nvml.audit.deploy_plans import driver_plan
from pyinfra_nvml.facts.container_libraries import ContainerLibraries
from pyinfra_nvml.facts.hold_tools import HoldTools
from pyinfra_nvml.facts.interrupted import Interrupted
from pyinfra_nvml.facts.machine import MachineState
from pyinfra_nvml.facts.reboot_conditions import RebootConditions
from pyinfra_nvml.facts.state_directory import STATE_DIR
from pyinfra_nvml.fleet.session import session
from pyinfra_nvml.model.finding import Result
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import docker_engine, node, proof
from pyinfra_nvml.plans.boot_proof import boot_shortcomings
from pyinfra_nvml.plans.driver_plan import (
    DriverPlan,
    NodeAnswers,
    library,
)
from pyinfra_nvml.settings.reading import read_settings

_BEGIN = ("say", "state", "lock", "engine", "containers", "begin_reboot")
_BEGIN_LIMIT = 180
"""Seconds: half a minute for another run to end, a Docker that is slow to say what runs."""

_INTERVAL = 2
"""Seconds between two looks whether the node is back."""

_SETTLE = 120
"""Seconds for its units to be up, Docker's among them, once it answers."""

_BOOT_ID = StringCommand("cat", "/proc/sys/kernel/random/boot_id")

# systemctl(1), is-system-running: "running" or "degraded" where the boot is over.
_SETTLED = StringCommand(
    "sh",
    "-c",
    f"'left={_SETTLE}; while [ $left -gt 0 ]; do"
    ' case "$(systemctl is-system-running 2>/dev/null)" in'
    " initializing | starting) sleep 1; left=$((left - 1)) ;; *) exit 0 ;; esac; done'",
)


def planned(state: State, host: Host) -> DriverPlan:
    """The plan for a node's driver, from what the node says now."""
    wanted = read_settings(host)
    verdict = session(state, wanted).ask(host)
    now = verdict.state
    if isinstance(now, Unknown):
        return DriverPlan(refusals=(Refusal("node", now.reason, "it to answer"),))
    directory = wanted.state_directory
    asked = NodeAnswers(
        means=host.get_fact(HoldTools, state_dir=directory, _ignore_errors=True),
        conditions=host.get_fact(RebootConditions, library=library(now), _ignore_errors=True),
        libraries=host.get_fact(ContainerLibraries, _ignore_errors=True),
        interrupted=host.get_fact(Interrupted, state_dir=directory, _ignore_errors=True),
        local=isinstance(host.connector, LocalConnector),
    )
    return driver_plan(verdict, asked, wanted.hold_driver, wanted.reboot, wanted.overrule)


@operation(is_idempotent=False, idempotent_notice="It reboots where a reboot ends a skew.")
def rebooted(
    wanted: bool, timeout: int = 900, state_dir: str = STATE_DIR
) -> Generator[StringCommand | FunctionCommand, None, None]:
    """
    The node has been rebooted, runs what ran before, and its driver is in step.

    + wanted: False where no reboot is asked for, or none would help
    + timeout: seconds that the node may take to come back; give ``_timeout`` as well, above it
    + state_dir: where the node keeps the list of what ran, for root alone

    A node that is in step when its turn comes is left alone, and one with a reason against it
    fails with every reason. Needs root, and a connection by SSH.

    **Example:**

    .. code:: python

        node_boot.rebooted(name="Reboot into the new driver", wanted=True, _timeout=1200)
    """
    if not wanted:
        host.noop("no reboot is asked for, or none is needed")
        return
    state = ctx_state.get()
    if state.current_stage is not StateStage.Execute:
        yield FunctionCommand(_wait, ("", timeout), {})
        return
    # Hours may lie between the first look and this host's turn.
    now = planned(state, host)
    verdict = session(state, read_settings(host)).verdicts[host.name]
    boot = "" if isinstance(verdict.state, Unknown) else _boot(verdict.state.machine)
    if now.refusals or not boot:
        yield node.refuse(*(f"refused: {reason}" for reason in now.refusals), *_unread(boot))
        return
    if not now.reboot:
        host.noop("the driver is in step by now")
        return
    yield node.run(node.script(*_BEGIN), state_dir, boot, stdin="", limit=_BEGIN_LIMIT)
    yield FunctionCommand(_wait, (boot, timeout), {})
    yield from docker_engine.brought_back._inner(state_dir=state_dir)
    yield FunctionCommand(_prove, (verdict.results,), {})


def _boot(machine: MachineState | Unknown) -> str:
    boot = None if isinstance(machine, Unknown) else machine.boot_id
    return boot.strip() if isinstance(boot, str) else ""


def _unread(boot: str) -> tuple[str, ...]:
    return () if boot else ("boot id: saw none, want it to tell the next boot from this one",)


def _wait(state: State, host: Host, before: str, timeout: int) -> bool:  # noqa: ARG001
    """Until the node answers with another boot id; a shutdown that takes long is waited out."""
    began = time.monotonic()
    # Its askpass file is gone with the boot.
    clear_askpass_cache(host)
    while time.monotonic() - began < timeout:
        time.sleep(_INTERVAL)
        now = _asked(host)
        if now and now != before:
            host.run_shell_command(_SETTLED, _timeout=_SETTLE + 30)
            seconds = round(time.monotonic() - began)
            host.log(f"back after {seconds} s, boot {now}", logger.info)
            return True
    told = (
        f"reboot: saw no other boot within {timeout} s, want the node back (setting reboot_timeout)"
    )
    host.log_styled(told, fg="red", log_func=logger.error)
    return False


def _asked(host: Host) -> str:
    """The boot id over a new connection: the old one may hang where its node went away."""
    connector: Any = host.connector
    with suppress(Exception):
        connector.client.close()
    try:
        connector.disconnect()
        connector.connect()
        succeeded, output = host.run_shell_command(_BOOT_ID, _timeout=10)
    except Exception:  # noqa: BLE001 - paramiko's, the socket's, pyinfra's own ConnectError
        return ""
    return output.stdout.strip() if succeeded else ""


def _prove(state: State, host: Host, before: Collection[Result]) -> bool:
    verdict = session(state, read_settings(host)).ask(host)
    if isinstance(verdict.state, Unknown):
        missed = [f"node: saw {verdict.state.reason}, want it to answer"]
    else:
        libraries = host.get_fact(ContainerLibraries, _ignore_errors=True)
        missed = list(boot_shortcomings(verdict.state, verdict.results, libraries, before))
    return proof.report_proof(host, missed, "module, libraries and containers agree")
