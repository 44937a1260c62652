"""A reboot into the module on disk: it ends a skew where that module is the library's version.

Carried out by deploys/fix_driver.py with ``--data reboot=true``, which flags the node in any case.
The node goes down with every container. Does not help where no module of the library is built.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_state import NextBoot, boots_in_step, next_boot
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.refusal import Refusal, not_overruled
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.plans.reboot_refusals import node_refusals
from pyinfra_nvml.remedies.context import Context

DEPLOY = "fix_driver"


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The deploy that reboots it; nothing where the boot would not bring the driver in step."""
    boot = boot_that_helps(context.node)
    if boot is None:
        return None
    text = f"{reboot_words(boot)} (deploys/{DEPLOY}.py --data reboot=true does it)"
    return Remedy("reboot", Repair.REBOOT, text, DEPLOY, against(context))


def boot_that_helps(node: NodeState) -> NextBoot | None:
    """The next boot, where it is known to load the module of the library."""
    driver = node.nvidia_driver
    if not isinstance(driver, NvidiaDriverState) or boots_in_step(driver) is not True:
        return None
    boot = next_boot(driver)
    return boot if isinstance(boot.version, str) else None


def reboot_words(boot: NextBoot) -> str:
    """The reboot and what it brings."""
    return f"reboot: kernel {boot.kernel} has module {boot.version} on disk"


def against(context: Context) -> tuple[Refusal, ...]:
    """Everything that the node's own facts say against a reboot by the deploy."""
    return not_overruled(node_refusals(context.node), context.policy.overrule)
