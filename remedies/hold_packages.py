"""The driver's packages held, and the kernel's where its module comes ready-made for each kernel.

Carried out by deploys/fix_driver.py. Nothing stops; security updates of these packages wait. Does
not mend a skew: what has to move yet is not to be held.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.driver_build import package_manager
from pyinfra_nvml.combiners.driver_state import boots_in_step
from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.refusal import not_overruled
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.driver_holds import HOLD, NOTHING, Holding, holding
from pyinfra_nvml.plans.engine_refusals import not_root
from pyinfra_nvml.remedies.context import Context
from pyinfra_nvml.remedies.reboot import DEPLOY


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The deploy and its commands; nothing where the driver is not in step."""
    if in_step(context) is not True:
        return None
    made = to_hold(context)
    reasons = not_overruled((*not_root(context.node), *made.refusals), context.policy.overrule)
    text = f"{commands(made)} (deploys/{DEPLOY}.py does it)" if made.add else f"deploys/{DEPLOY}.py"
    return Remedy("hold-packages", Repair.HOLD_PACKAGES, text, DEPLOY, reasons)


def in_step(context: Context) -> bool:
    """Whether the packages of the node make one driver at its next boot."""
    driver = context.node.nvidia_driver
    return isinstance(driver, NvidiaDriverState) and boots_in_step(driver) is True


def to_hold(context: Context) -> Holding:
    """What the deploy would hold here, by the program that the system has for it."""
    driver, holds = context.node.nvidia_driver, context.node.package_holds
    if not isinstance(driver, NvidiaDriverState):
        return NOTHING
    manager = "dnf5" if _dnf5(context) else package_manager(context.node)
    plugin = {"dnf": "dnf-plugins", "yum": "yum-plugins"}.get(str(manager), "")
    # Debian's systems have no other; which plugins dnf has is asked by the deploy alone.
    tools = ("apt-mark", str(manager)) if isinstance(manager, str) else ("apt-mark", "dnf")
    means = HoldToolsState(tools, (plugin or "dnf-plugins",))
    return holding(driver.packages, holds, means, "packages")


def commands(made: Holding) -> str:
    """The holds as commands, with the plugin that they need."""
    lines = []
    for means in dict.fromkeys(means for means, _ in made.add):
        names = dict.fromkeys(name.partition(":")[0] for by, name in made.add if by == means)
        plugin = "dnf install 'dnf-command(versionlock)'; " if means == "dnf" else ""
        plugin = "yum install yum-plugin-versionlock; " if means == "yum" else plugin
        lines.append(f"{plugin}{HOLD[means]} {' '.join(names)}")
    return "; ".join(lines)


def _dnf5(context: Context) -> bool:
    """Fedora from 41 on: its dnf locks versions without a plugin (dnf5-versionlock(8))."""
    machine = context.node.machine
    if isinstance(machine, Unknown) or machine.os_id != "fedora":
        return False
    version = machine.os_version
    return isinstance(version, str) and version.isdigit() and int(version) >= 41
