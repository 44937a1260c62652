"""The other kind or branch of NVIDIA's module, where this one does not drive the GPU by design.

Open for Blackwell and newer, proprietary before Turing, an older branch for what was dropped.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.combiners.unsupported_gpu import unsupported_gpu
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The module that this GPU wants; nothing where the kernel log does not say so."""
    driver = context.node.nvidia_driver
    one = unsupported_gpu(driver, finding.target) if isinstance(driver, NvidiaDriverState) else None
    if one is None:
        return None
    text = (
        f"go back to branch {one.wants} and hold it there (nvidia-driver-pinning-{one.wants},"
        " or deploys/fix_driver.py), then reboot"
    )
    if one.wants == "open":
        text = (
            "install the open module of the same version in its place (nvidia-driver-NNN-open,"
            " nvidia-open), then reboot"
        )
    elif one.wants == "proprietary":
        text = (
            "install the proprietary module, of branch 580 or older; a GPU from Turing on:"
            " power-cycle the node"
        )
    return Remedy("other-module", Repair.MANUAL, f"{on_host(context.node)}{text}")
