"""Audit at set times: a timer on each node, or on one controller that audits an inventory.

    pyinfra inventory.py deploys/schedule_drift.py --dry
    pyinfra inventory.py deploys/schedule_drift.py
    pyinfra controller.py deploys/schedule_drift.py --data drift_mode=controller \\
        --data drift_inventory=/etc/pyinfra-nvml/fleet.py
    pyinfra inventory.py deploys/schedule_drift.py --data present=false

The program goes into a virtual environment of its own, from wheels that come with it: a node needs
no network. No daemon-reload is done, which would take GPUs from containers.
"""

from pyinfra import host, logger, state
from pyinfra.api.deploy import deploy

from pyinfra_nvml.drift import schedule_plan as schedule  # not found? pyinfra --chdir CHECKOUT
from pyinfra_nvml.drift import schedule_refusals
from pyinfra_nvml.drift.wheel_target import wheel_target
from pyinfra_nvml.facts.interpreter import Interpreter, InterpreterState
from pyinfra_nvml.facts.scheduler import Scheduler, SchedulerState
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.operations import drift_timer, refusal, tool, wheelhouse
from pyinfra_nvml.operations.wheel_cache import NoWheels
from pyinfra_nvml.settings.host_data import given
from pyinfra_nvml.settings.models import Settings
from pyinfra_nvml.settings.reading import read_settings
from pyinfra_nvml.settings.schedule import read_schedule


def steps() -> None:
    """Installs this host's scheduled audit, or takes it away."""
    wanted = read_schedule(host)
    read_settings(host)  # What a node takes along is held to what it may be before it goes.
    if not wanted.present:
        drift_timer.unscheduled(name="Take the scheduled audit away", settings=wanted)
        tool.uninstalled(name="Take its program away", home=wanted.drift_home)
    else:
        scheduler = host.get_fact(
            Scheduler,
            calendar=wanted.drift_schedule,
            paths=schedule.PATHS,
            user=wanted.user,
            needed=schedule_refusals.needed(wanted),
            _ignore_errors=True,
        )
        python = host.get_fact(Interpreter, python=wanted.drift_python, _ignore_errors=True)
        against = list(schedule_refusals.schedule_refusals(wanted, scheduler, python))
        carried = schedule.carried(given(host, Settings), host.name)
        packed = None
        if isinstance(python, InterpreterState) and not against:
            try:
                packed = wheelhouse.archive(wheel_target(python))
            except NoWheels as reason:
                against.append(
                    Refusal("wheels", str(reason), "them on the machine that runs pyinfra")
                )
        for each in against:
            # In a dry run nothing else would tell.
            host.log(f"refused: {each}", logger.error)
            state.failed_hosts.add(host)
        refusal.preconditions(
            name="Look at every reason against it", reasons=[str(reason) for reason in against]
        )
        if packed and isinstance(scheduler, SchedulerState):
            tool.installed(
                name=f"Put version {packed.digest} of the program in use",
                archive=str(packed.path),
                digest=packed.digest,
                python=wanted.drift_python,
                home=wanted.drift_home,
            )
            drift_timer.scheduled(
                name=f"Audit {wanted.drift_schedule} as {wanted.user}",
                settings=wanted,
                files=schedule.schedule_files(wanted, scheduler, host.name, carried),
                systemd=scheduler.systemd,
            )


schedule_drift = deploy("Schedule the audit")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import schedule_drift``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
