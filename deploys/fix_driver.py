"""Bring the NVIDIA driver in step, and keep updates from taking it out of step again.

    pyinfra inventory.py deploys/fix_driver.py --dry
    pyinfra inventory.py deploys/fix_driver.py
    pyinfra inventory.py deploys/fix_driver.py --data reboot=true

Flag a pending reboot, hold the driver's packages, and with ``reboot=true`` reboot the nodes whose
skew a reboot ends, group by group. Each step is done only where it is needed, so a run that died
anywhere is simply run again. A host with a reason against it fails with every reason and is left
as it was.
"""

from pyinfra import host, state
from pyinfra.api.deploy import deploy
from pyinfra.operations import files

from pyinfra_nvml.facts.hold_tools import BLACKLIST  # not found? pyinfra --chdir CHECKOUT
from pyinfra_nvml.fleet.session import session
from pyinfra_nvml.operations import batch, docker_engine, node_boot, reboot, refusal
from pyinfra_nvml.operations import driver_holds as driver_packages
from pyinfra_nvml.plans import driver_plan_text as driver_text
from pyinfra_nvml.settings.reading import read_settings
from pyinfra_nvml.templates import TEMPLATES


def steps() -> None:
    """Flags, holds and, where asked for, reboots this host for its NVIDIA driver."""
    wanted = read_settings(host)
    run = session(state, wanted)
    todo = node_boot.planned(state, host)
    run.tell(host, driver_text.driver_plan_lines(todo), refused=bool(todo.refusals))

    refusal.preconditions(
        name="Look at every reason against it",
        reasons=[str(reason) for reason in todo.refusals],
    )

    for title in batch.batches(run):
        reboot.flag(
            name=f"{title}: flag a pending reboot of the NVIDIA driver",
            reason=todo.flag,
            since=todo.since,
            sentinel=wanted.reboot_sentinel,
        )
        reboot.message(
            name=f"{title}: tell it to those who log in",
            reason=todo.flag,
            since=todo.since,
        )
        driver_packages.held(
            name=f"{title}: hold the driver's packages",
            packages=todo.holds.add,
            state_dir=wanted.state_directory,
        )
        driver_packages.released(
            name=f"{title}: let go what was held and is not to be",
            packages=todo.holds.drop,
            state_dir=wanted.state_directory,
        )
        if todo.holds.blacklist:
            files.template(
                name=f"{title}: leave the driver out of unattended upgrades",
                src=str(TEMPLATES / "etc/apt/apt.conf.d/52pyinfra-nvml-driver.j2"),
                dest=BLACKLIST,
                mode="0644",
                entries=todo.holds.blacklist,
            )
        elif todo.holds.blacklist is not None:
            files.file(
                name=f"{title}: leave the driver to unattended upgrades again",
                path=BLACKLIST,
                present=False,
            )
        docker_engine.brought_back(
            name=f"{title}: start what an earlier run left down",
            state_dir=wanted.state_directory,
        )
        node_boot.rebooted(
            name=f"{title}: reboot into the driver on disk",
            wanted=todo.reboot,
            timeout=wanted.reboot_timeout,
            state_dir=wanted.state_directory,
            _timeout=wanted.reboot_timeout + 300,
        )
        if todo.reboot:
            reboot.flag(
                name=f"{title}: take the flag away",
                reason=None,
                sentinel=wanted.reboot_sentinel,
            )


fix_driver = deploy("Fix the NVIDIA driver")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import fix_driver``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
