"""A host's engine when its turn has come: looked at again, before anything of it is changed."""

from __future__ import annotations

from collections.abc import Generator

from pyinfra.api import FunctionCommand, Host, State, operation
from pyinfra.api.state import StateStage
from pyinfra.context import ctx_state, host

from pyinfra_nvml.audit.deploy_plans import cgroup_driver_plan
from pyinfra_nvml.facts.last_write import LastWrite, LastWriteState
from pyinfra_nvml.fleet.session import session
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import refusal
from pyinfra_nvml.plans import engine_plan_text as plan_text
from pyinfra_nvml.plans import restore_plan as restore
from pyinfra_nvml.plans.engine_plan import Plan
from pyinfra_nvml.settings.reading import read_settings


def cure_plan(state: State, host: Host) -> Plan:
    """What brings this host to its wanted driver, from what the node says now."""
    wanted = read_settings(host)
    verdict = session(state, wanted).ask(host)
    settings = wanted.only_exposed, wanted.overrule, wanted.enforce
    made = cgroup_driver_plan(verdict, wanted.cgroup_driver, *settings)
    if any(refusal.overrule is Overrule.UNPROVEN_CONFIG for refusal in made.refusals):
        # An edit may be this project's own, of a run that ended before its restart.
        last = host.get_fact(LastWrite, state_dir=wanted.state_directory, _ignore_errors=True)
        if isinstance(last, LastWriteState):
            return cgroup_driver_plan(verdict, wanted.cgroup_driver, *settings, last)
    return made


def rollback(state: State, host: Host) -> restore.Restore:
    """What puts back the file of before on this host, from what the node says now."""
    wanted = read_settings(host)
    now = session(state, wanted).ask(host).state
    last = host.get_fact(LastWrite, state_dir=wanted.state_directory, _ignore_errors=True)
    if isinstance(now, Unknown):
        return restore.Restore(Plan("", refusals=(_silent(now),)))
    return restore.plan_restore(now, last, wanted.overrule)


def _silent(now: Unknown) -> Refusal:
    return Refusal("node", now.reason, "it to answer")


@operation()
def recheck(wanted: bool = True, restores: bool = False) -> Generator[FunctionCommand, None, None]:
    """
    No reason is against it at this host's turn either: hours may lie behind the first look.

    + wanted: False where nothing is to be changed
    + restores: whether the file of before is put back, and no driver brought in

    What runs and is exposed now is what the proof is about. With a reason against it the host fails
    and is left alone.

    **Example:**

    .. code:: python

        engine_recheck.recheck(name="Look at the node again, now that its turn has come")
    """
    state = ctx_state.get()
    if not wanted or state.current_stage is not StateStage.Execute:
        host.noop("no reason is against it")
        return
    run = session(state, read_settings(host))
    now = rollback(state, host).plan if restores else cure_plan(state, host)
    if not now.refusals:
        run.rechecked[host.name] = now
        host.noop("no reason is against it by now")
        return
    run.plans[host.name] = tuple(plan_text.engine_plan_lines(now, diff=False))
    run.refused.add(host.name)
    yield FunctionCommand(refusal.fail_host, ([str(reason) for reason in now.refusals],), {})
