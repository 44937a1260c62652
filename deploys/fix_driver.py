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
from pyinfra.operations import files

from audit.driver import plan_text as driver_text  # not found? pyinfra --chdir CHECKOUT
from audit.knobs import knobs
from audit.session import session
from facts.hold_means import BLACKLIST
from operations import batch, docker_engine, driver_packages, node_boot, reboot, refusal

wanted = knobs(host)
run = session(state, wanted)
todo = node_boot.planned(state, host)
run.tell(host, driver_text.lines(todo), refused=bool(todo.refusals))

refusal.none(
    name="Look at every reason against it",
    reasons=[str(reason) for reason in todo.refusals],
)

for title in batch.turns(run):
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
            src="templates/etc/apt/apt.conf.d/52pyinfra-nvml-driver.j2",
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
