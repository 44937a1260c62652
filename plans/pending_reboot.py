"""Whether a node waits for a reboot, and why, for sentinel files and schedulers."""

from __future__ import annotations

from collections.abc import Iterable

from pyinfra_nvml.model.finding import Finding, Result
from pyinfra_nvml.model.remedy import Repair


def _by_reboot(finding: Finding) -> bool:
    """Whether a reboot mends it, by whom ever and whatever stands against it now."""
    repairs = {finding.repair, *(remedy.repair for remedy in finding.remedies)}
    return Repair.REBOOT in repairs


def pending_reboot(results: Iterable[Result]) -> str | None:
    """One line with every reason for a reboot that nobody waived, or ``None``.

    .. code:: python

        "NVIDIA driver: module 550.90.07 loaded, library 550.107.02; want one version"
    """
    reasons = [
        f"{finding.subject}: {finding.saw}; want {finding.want}"
        for result in results
        for finding in result.findings
        if finding.counts and _by_reboot(finding)
    ]
    return " / ".join(reasons) or None
