"""What a verdict and a plan come to in the words of the collection of cases.

Verdict, the worst that holds:

- BROKEN: a container has lost a device that systemd, or an update of the container, took away.
- OTHER: something else is broken, or will be, and the remedy for the cgroup driver is not for it.
- AT-RISK: a container, or the next one, loses its GPU at a daemon-reload or an update of it.
- UNKNOWN: nothing of these, and something could not be told.
- OK: nothing of these; advice does not count.

Repair, of the remedy that brings Docker to cgroupfs:

- REFUSE: its plan refuses the node, with reasons.
- REPAIR: a container's loss, or the exposure of one, is to be mended by it, and its plan does so.
- ADVISE: findings are told, and nothing is changed.
- NONE: there is nothing to tell.
"""

from __future__ import annotations

from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.finding import Level
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.plans.engine_plan import Plan

LOSS = (
    "device-loss",
    "device-exposure",
    "engine-driver",
    "dev-char-links",
    "device-plugin",
    "gpu-operator",
    "kubelet-driver",
)
"""The checks that tell of devices taken away by whoever writes the container's cgroup."""

_NEVER_OPENED = "toolkit-no-cgroups"
"""Then a refused device was never there to be lost."""


def word(verdict: Verdict) -> str:
    """The verdict in one word."""
    found = {(result.check in LOSS, finding.level) for result, finding in verdict.findings}
    checks = {result.check for result, _ in verdict.findings}
    if (True, Level.BROKEN) in found and _NEVER_OPENED not in checks:
        return "BROKEN"
    if (True, Level.BROKEN) in found or (False, Level.BROKEN) in found:
        return "OTHER"
    if (True, Level.AT_RISK) in found:
        return "AT-RISK"
    if (False, Level.AT_RISK) in found:
        return "OTHER"
    return "UNKNOWN" if verdict.doubts else "OK"


def repair(verdict: Verdict, plan: Plan) -> str:
    """What the remedy does about it, in one word."""
    if plan.refusals:
        return "REFUSE"
    wanted = any(
        result.check in LOSS and finding.repair is Repair.RESTART_DOCKER
        for result, finding in verdict.findings
    )
    if wanted and (plan.write or plan.restart):
        return "REPAIR"
    return "ADVISE" if verdict.findings else "NONE"
