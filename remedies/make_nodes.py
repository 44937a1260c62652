"""NVIDIA's device nodes, made anew with the numbers that the kernel has now.

Not for a system container, whose nodes its host gives.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import guest
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The program that makes them; where a node has an old number, that one goes first."""
    if guest(context.node):
        return None
    if finding.saw.startswith("not there"):
        text = "nvidia-modprobe -c0 -u; for good: nvidia-persistenced or a udev rule"
    else:
        text = "rm /dev/nvidia-uvm /dev/nvidia-uvm-tools; nvidia-modprobe -c0 -u"
    return Remedy("make-nodes", Repair.MANUAL, text)
