"""Write out the one monitor that may see the parent GPUs of MIG nodes: changes nothing on them.

    pyinfra inventory.py deploys/mig_monitor.py --data mig_monitor_image=IMAGE

Each node says how its container toolkit gives GPUs; the form that is right for it goes to the
directory ``mig_monitor_out`` on this machine: manifests for a node of Kubernetes, a compose file
for one with Docker alone. A node without MIG, or without a right form, fails with every reason.
"""

from pyinfra import host, state

from audit.engine.refusals import Refusal  # not found? pyinfra --chdir CHECKOUT
from audit.knobs import knobs
from audit.monitor.files import commands, files
from audit.monitor.form import Choice, choose
from audit.monitor.knobs import monitor
from audit.session import session
from facts.unknown import Unknown
from operations import refusal, rendered

wanted = knobs(host)
asked, out = monitor(host)
run = session(state, wanted)
now = run.ask(host).state
choice = (Refusal("node", now.reason, "it to answer"),) if isinstance(now, Unknown) else choose(now)
against = [] if isinstance(choice, Choice) else [str(reason) for reason in choice]
pods = f"{asked.namespace}/{asked.name}"
if not wanted.wishes.monitor(asked.name, pods, asked.image):
    against.append(
        f"mig_monitors: saw no pattern for {asked.name}, want it in the inventory's list, so that"
        " the audit knows it"
    )
if against:
    told = [f"refused: {reason}" for reason in against]
elif isinstance(choice, Choice):
    told = [f"form {choice.form.value}: {choice.form.means} ({choice.why})", *choice.remarks]
    node = host.data.get("kubernetes_node")
    told += [f"then: {line}" for line in commands(asked, choice, host.name, str(out), node)]
run.tell(host, told, refused=bool(against))

refusal.none(name="Look at every reason against it", reasons=against)
rendered.files(
    name="Write the MIG monitor out on this machine",
    directory=str(out),
    texts=files(asked, choice) if isinstance(choice, Choice) and not against else {},
)
