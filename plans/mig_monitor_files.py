"""A MIG monitor written out for Kubernetes or compose: its rights, and no more."""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.mig import MONITOR_NODE
from pyinfra_nvml.plans.mig_monitor_form import Choice
from pyinfra_nvml.settings.mig_monitor import Monitor
from pyinfra_nvml.templates import rendered

LABEL = "pyinfra-nvml/mig-monitor"
"""The label of the Kubernetes nodes that a monitor runs on; its value is the form."""


def monitor_files(monitor: Monitor, choice: Choice) -> dict[str, str]:
    """Name and text of every file for a node of this form."""
    if not choice.kubernetes:
        found = {"compose": "compose/mig-monitor.yaml"}
    else:
        kinds = ("daemonset", "pod")
        found = {kind: f"kubernetes/mig-monitor-{kind}.yaml" for kind in kinds}
        if choice.form.passes_node:
            found["cdi"] = "cdi/mig-monitor.yaml"
    return {
        f"{monitor.name}-{choice.form.value}.{kind}.yaml": rendered(
            template, monitor=monitor, form=choice.form, node=MONITOR_NODE
        )
        for kind, template in found.items()
    }


def monitor_commands(
    monitor: Monitor, choice: Choice, host: str, out: str, node: str | None = None
) -> Iterator[str]:
    """What the operator runs then; ``node`` is the host's name in Kubernetes, if it has another."""
    form = choice.form.value
    start = f"{out.rstrip('/')}/{monitor.name}-{form}"
    if not choice.kubernetes:
        yield f"DOCKER_HOST=ssh://{host} docker compose -f {start}.compose.yaml up -d"
        return
    if choice.form.passes_node:
        yield f"scp {start}.cdi.yaml {host}:/etc/cdi/{monitor.name}.yaml"
    yield f"kubectl label node {node or host} {LABEL}={form} --overwrite"
    yield f"kubectl apply -f {start}.daemonset.yaml"
