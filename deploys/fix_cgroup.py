"""Bring Docker to the wanted cgroup driver, so that containers keep their GPUs.

    pyinfra inventory.py deploys/fix_cgroup.py --dry --diff
    pyinfra inventory.py deploys/fix_cgroup.py

Write daemon.json, restart docker, prove the cure: each step is done only where it is needed, so a
run that died anywhere is simply run again. A host with a reason against it fails with every
reason and is left as it was.
"""

from pyinfra import config, host, state
from pyinfra.api.deploy import deploy

from pyinfra_nvml.fleet.session import session  # not found? pyinfra --chdir CHECKOUT
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import (
    batch,
    daemon_json,
    docker_engine,
    engine_recheck,
    gpu_containers,
    reboot,
    refusal,
)
from pyinfra_nvml.plans import engine_plan_text as plan_text
from pyinfra_nvml.plans.pending_reboot import (
    pending_reboot,
)
from pyinfra_nvml.settings.reading import read_settings


def steps() -> None:
    """Brings this host's Docker to the wanted cgroup driver, and proves the cure."""
    wanted = read_settings(host)
    run = session(state, wanted)
    todo = engine_recheck.cure_plan(state, host)
    verdict = run.verdicts[host.name]
    now = verdict.state
    run.tell(host, plan_text.engine_plan_lines(todo, config.DIFF), refused=bool(todo.refusals))

    refusal.preconditions(
        name="Look at every reason against it",
        reasons=[str(reason) for reason in todo.refusals],
    )

    for title in batch.batches(run):
        engine_recheck.recheck(name=f"{title}: look at the node again", wanted=todo.acts)
        if todo.write:
            daemon_json.configured_driver(
                name=f"{title}: write native.cgroupdriver={wanted.cgroup_driver} to daemon.json",
                driver=wanted.cgroup_driver,
                state_dir=wanted.state_directory,
            )
        if todo.engine:
            docker_engine.running_driver(
                name=f"{title}: restart docker if it is not on {todo.driver}",
                driver=todo.driver,
                state_dir=wanted.state_directory,
            )
        exposed = {container.id: container.name for container in todo.exposed}
        gpu_containers.restarted(
            name=f"{title}: restart the containers that live-restore left behind",
            driver=wanted.cgroup_driver,
            exposed=exposed,
            wanted=todo.acts and wanted.restart_exposed_containers,
        )
        gpu_containers.reachable(
            name=f"{title}: prove that exposed containers reach their GPUs",
            driver=wanted.cgroup_driver,
            exposed=exposed,
            wanted=todo.acts,
        )
        reboot.flag(
            name=f"{title}: flag a pending reboot of the NVIDIA driver",
            reason=None if isinstance(now, Unknown) else pending_reboot(verdict.results),
            sentinel=wanted.reboot_sentinel,
        )


fix_cgroup = deploy("Fix the cgroup driver")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import fix_cgroup``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
