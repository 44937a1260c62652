"""Put back the daemon.json from before the last fix, and restart Docker with it if it differs.

    pyinfra inventory.py deploys/restore.py --dry --diff
    pyinfra inventory.py deploys/restore.py

The same transaction as the fix, in the same groups. Containers that were cured are exposed again.
"""

from pyinfra import config, host, state
from pyinfra.api.deploy import deploy

from pyinfra_nvml.fleet.session import session  # not found? pyinfra --chdir CHECKOUT
from pyinfra_nvml.operations import (
    batch,
    daemon_json,
    docker_engine,
    engine_recheck,
    gpu_containers,
    refusal,
)
from pyinfra_nvml.plans import engine_plan_text as plan_text
from pyinfra_nvml.settings.reading import read_settings


def steps() -> None:
    """Puts back this host's daemon.json from before the last fix, and restarts Docker with it."""
    wanted = read_settings(host)
    run = session(state, wanted)
    todo = engine_recheck.rollback(state, host)
    run.tell(
        host, plan_text.engine_plan_lines(todo.plan, config.DIFF), refused=bool(todo.plan.refusals)
    )

    refusal.preconditions(
        name="Look at every reason against it",
        reasons=[str(reason) for reason in todo.plan.refusals],
    )
    for title in batch.batches(run):
        if not (todo.plan.acts or todo.unfinished):
            continue
        engine_recheck.recheck(name=f"{title}: look at the node again", restores=True)
        daemon_json.restored(
            name=f"{title}: put back the daemon.json from before",
            driver=todo.plan.driver,
            state_dir=wanted.state_directory,
        )
        docker_engine.running_driver(
            name=f"{title}: restart docker if it is not on {todo.plan.driver}",
            driver=todo.plan.driver,
            state_dir=wanted.state_directory,
            named=todo.named,
        )
        gpu_containers.reachable(
            name=f"{title}: look at the engine again",
            driver=todo.plan.driver,
            exposed={},
        )


restore = deploy("Restore daemon.json")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import restore``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
