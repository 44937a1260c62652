"""A container made again with the node's library, or an image without a library of its own.

A restart keeps what was mounted when the container was made. Does not help the node: it is in step.
"""

from __future__ import annotations

import re

from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """The question that tells mount from image, and what each of them takes."""
    pid = re.search(r"\(pid (\d+)\)", finding.evidence[-1] if finding.evidence else "")
    container = context.container(finding.target)
    if container is None or pid is None:
        text = (
            "recreate that container where the node mounted its library; a restart keeps what CDI"
            " mounted when it was made. Where its image brings libnvidia-ml, take it out of there"
        )
        return Remedy("recreate-client", Repair.MANUAL, text)
    again = "have its owner recreate the pod" if container.pod else f"recreate {container.name}"
    text = (
        f"grep libnvidia-ml /proc/{pid[1]}/mountinfo: where it prints a line, the node mounted the"
        f" library: {again} (a restart keeps the mount); where it prints nothing, the image brings"
        f" the library: take libnvidia-ml out of the image of {container.name}, then {again}"
    )
    return Remedy("recreate-client", Repair.MANUAL, text)
