"""A large fleet, and what a terminal is shown of verdicts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from pyinfra_nvml.audit.verdict import Verdict, unreached, verdict
from pyinfra_nvml.reports.terminal import print_report
from tests import recordings

ALIKE = verdict("gpu-000", recordings.node("gpu_good"), execs=1)


def large(size: int = 500) -> list[Verdict]:
    """All alike, but gpu-417, which is broken, and gpu-250 to 252, which do not answer."""
    nodes = [replace(ALIKE, node=f"gpu-{number:03}") for number in range(size)]
    nodes[417] = verdict("gpu-417", recordings.node("bookworm_lost"), execs=1)
    nodes[250:253] = [unreached(node.node, "could not be connected to") for node in nodes[250:253]]
    return nodes


def printed(verdicts: Sequence[Verdict], width: int = 150) -> str:
    """What the terminal shows."""
    stream = io.StringIO()
    print_report(verdicts, Console(file=stream, width=width, highlight=False))
    return stream.getvalue()
