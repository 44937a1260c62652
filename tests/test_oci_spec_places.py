"""Where the specs of running containers are looked for: each engine alone on a node."""

from __future__ import annotations

import os
import subprocess

import pytest

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.oci_specs import OciSpecs, OciSpecsState
from pyinfra_nvml.facts.probe import read_frame

_SPEC = '{"hooks":{"prestart":[{"path":"/usr/bin/nvidia-container-runtime-hook"}]}}'
_ALONE = f"""
mount -t tmpfs tmpfs /run && mkdir -p "$1" && echo '{_SPEC}' >"$1/config.json" || exit
"""

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="a mount namespace wants root")


@pytest.mark.parametrize(
    "root",
    [
        "/run/containerd",
        "/run/docker/containerd/daemon",
        "/run/k3s/containerd",
        # k0s' containerd has its state there (k0sproject/k0s, pkg/component/worker/containerd).
        "/run/k0s/containerd",
    ],
)
def test_an_engine_alone_is_found(root: str) -> None:
    place = f"{root}/io.containerd.runtime.v2.task/k8s.io/{'4f' * 32}"
    told = subprocess.run(
        ["unshare", "-m", "sh", "-c", _ALONE + node_script(OciSpecs.probes), "x", place],
        capture_output=True,
        text=True,
    )
    found = OciSpecs.parse(read_frame(told.stdout.splitlines()))
    assert isinstance(found, OciSpecsState), (found, told.stderr)
    assert [one.id for one in found.containers] == ["4f" * 32]
