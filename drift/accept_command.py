"""The command that accepts today's state of an inventory, as this program was started itself."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def accept_command(inventory: str, results: Path) -> str:
    """What to type, ready for a shell.

    .. code:: python

        "/opt/pyinfra-nvml/current/bin/nvml-audit fleet.py --results /var/lib/drift --accept"
    """
    return shlex.join([*_started(), inventory, "--results", str(results), "--accept"])


def _started() -> list[str]:
    command = sys.argv[0]
    return (
        [command]
        if Path(command).name == "nvml-audit"
        else [sys.executable, "-m", "pyinfra_nvml.drift"]
    )
