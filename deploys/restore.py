"""Put back the daemon.json from before the last fix, and restart Docker with it if it differs.

    pyinfra inventory.py deploys/restore.py --dry --diff
    pyinfra inventory.py deploys/restore.py

The same transaction as the fix, in the same groups. Containers that were cured are exposed again.
"""

from pyinfra import config, host, state

from audit.engine import plan_text, restore  # not found? pyinfra --chdir CHECKOUT
from audit.engine.plan import Plan
from audit.engine.refusals import Refusal
from audit.knobs import knobs
from audit.session import session
from facts.last_write import LastWrite
from facts.unknown import Unknown
from operations import batch, daemon_json, docker_engine, gpu_containers, refusal

wanted = knobs(host)
run = session(state, wanted)
now = run.ask(host).state
last = host.get_fact(LastWrite, state_dir=wanted.state_directory, _ignore_errors=True)
todo = (
    restore.Restore(Plan("", refusals=(Refusal("node", now.reason, "it to answer"),)))
    if isinstance(now, Unknown)
    else restore.plan(now, last, wanted.overrule)
)
run.tell(host, plan_text.lines(todo.plan, config.DIFF), refused=bool(todo.plan.refusals))

refusal.none(
    name="Look at every reason against it",
    reasons=[str(reason) for reason in todo.plan.refusals],
)
for title in batch.turns(run):
    if not todo.plan.acts:
        continue
    daemon_json.restored(
        name=f"{title}: put back the daemon.json from before",
        driver=todo.plan.driver,
        state_dir=wanted.state_directory,
    )
    docker_engine.cgroup_driver(
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
