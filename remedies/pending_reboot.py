"""Whether a node waits for a reboot, and why, for sentinel files and schedulers."""

from __future__ import annotations

from collections.abc import Iterable

from pyinfra_nvml.model.finding import Result
from pyinfra_nvml.model.remedy import Repair


def pending_reboot(results: Iterable[Result]) -> str | None:
    """One line with every reason for a reboot that nobody waived, or ``None``.

    .. code:: python

        "NVIDIA driver: module 550.90.07 loaded, library 550.107.02; want one version"
    """
    reasons = [
        f"{finding.subject}: {finding.saw}; want {finding.want}"
        for result in results
        for finding in result.findings
        if finding.repair is Repair.REBOOT and finding.counts
    ]
    return " / ".join(reasons) or None
