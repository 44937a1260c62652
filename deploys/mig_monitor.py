"""Write out the one monitor that may see the parent GPUs of MIG nodes: changes nothing on them.

    pyinfra inventory.py deploys/mig_monitor.py --data mig_monitor_image=IMAGE

Each node says how its container toolkit gives GPUs; the form that is right for it goes to the
directory ``mig_monitor_out`` on this machine: manifests for a node of Kubernetes, a compose file
for one with Docker alone. A node without MIG, or without a right form, fails with every reason.
"""

from pyinfra import host, state
from pyinfra.api.deploy import deploy

from pyinfra_nvml.fleet.session import session  # not found? pyinfra --chdir CHECKOUT
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import refusal, rendered
from pyinfra_nvml.plans.mig_monitor_files import monitor_commands, monitor_files
from pyinfra_nvml.plans.mig_monitor_form import Choice, choose
from pyinfra_nvml.settings.mig_monitor import read_monitor
from pyinfra_nvml.settings.reading import read_settings


def steps() -> None:
    """Writes out, on the machine that runs pyinfra, the MIG monitor that this host needs."""
    wanted = read_settings(host)
    asked, out = read_monitor(host)
    run = session(state, wanted)
    now = run.ask(host).state
    choice = (
        (Refusal("node", now.reason, "it to answer"),) if isinstance(now, Unknown) else choose(now)
    )
    against = [] if isinstance(choice, Choice) else [str(reason) for reason in choice]
    pods = f"{asked.namespace}/{asked.name}"
    if not wanted.policy.monitor(asked.name, pods, asked.image):
        against.append(
            f"mig_monitors: saw no pattern for {asked.name}, want it in the inventory's list, so"
            " that the audit knows it"
        )
    if against:
        told = [f"refused: {reason}" for reason in against]
    elif isinstance(choice, Choice):
        told = [f"form {choice.form.value}: {choice.form.means} ({choice.why})", *choice.remarks]
        node = host.data.get("kubernetes_node")
        told += [
            f"then: {line}" for line in monitor_commands(asked, choice, host.name, str(out), node)
        ]
    run.tell(host, told, refused=bool(against))

    refusal.preconditions(name="Look at every reason against it", reasons=against)
    rendered.files(
        name="Write the MIG monitor out on this machine",
        directory=str(out),
        texts=monitor_files(asked, choice) if isinstance(choice, Choice) and not against else {},
    )


mig_monitor = deploy("Write out the MIG monitor")(steps)
"""The same for a deploy file of your own: ``from pyinfra_nvml.deploys import mig_monitor``."""

# pyinfra runs a deploy file with no name of its own (3.10.0, pyinfra_cli/util.py, exec_file).
if __name__ == "builtins":
    steps()
