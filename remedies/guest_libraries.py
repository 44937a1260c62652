"""The driver's libraries of the host's version, in a system container that shares its module.

A guest (LXC, LXD) builds and loads no module: neither dkms nor a reboot of it helps.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import guest
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """The libraries of the module in memory; nothing on a node with a kernel of its own."""
    driver = context.node.nvidia_driver
    loaded = driver.loaded if isinstance(driver, NvidiaDriverState) else None
    if not guest(context.node) or not isinstance(loaded, str):
        return None
    text = (
        f"install the user-space part of {loaded} in here (--no-kernel-modules), or let the"
        " container's manager give the host's libraries (nvidia.runtime=true on LXD)"
    )
    return Remedy("guest-libraries", Repair.MANUAL, text)
