"""Programs of other projects that a test runs, from Debian's packages."""

from __future__ import annotations

import shutil

import pytest

from tests.lab import requirements

PACKAGE_OF = {
    "chromium": "chromium",
    "kubectl": "kubernetes-client",
    "promtool": "prometheus",
    "prometheus": "prometheus",
    "prometheus-node-exporter": "prometheus-node-exporter",
}


def program(name: str) -> str:
    """Where the program lies; without it a skip with the package, or a failure where required."""
    path = shutil.which(name)
    if path is None:
        lacking = f"no {name} here, want it: apt-get install {PACKAGE_OF[name]}"
        if requirements.required():
            pytest.fail(lacking, pytrace=False)
        pytest.skip(lacking)
    return path
