"""The Helm commands that cure how a cluster gives out GPUs, with the exact values.

Sources: NVIDIA/k8s-device-plugin, README ("Setting other helm chart values") and values.yaml, 0.7.0
to 0.20.0; NVIDIA/gpu-operator, values.yaml and docs.nvidia.com, "Upgrading the GPU Operator".
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from pyinfra_nvml.facts.cluster import ClusterPolicy, Release
from pyinfra_nvml.facts.workload import HIDDEN

SPECS = "PASS_DEVICE_SPECS"


def plugin_passes(release: Release) -> str:
    """The device plugin's own chart: its value sets the variable and makes the plugin privileged.

    .. code:: python

        "helm upgrade nvdp nvdp/nvidia-device-plugin -n kube-system --version=0.17.1 --reuse-values"
        " --set compatWithCPUManager=true"
    """
    return _upgrade(release, "nvdp/nvidia-device-plugin", ["--set compatWithCPUManager=true"])


def operator_passes(release: Release, policy: ClusterPolicy | None) -> str:
    """The Operator's chart: a list that is given replaces the old one, so all of it is given."""
    listed = [text.partition("=") for text in (policy.environment if policy else ())]
    pairs = [(name, value) for name, _, value in listed if name != SPECS] + [(SPECS, "true")]
    return _upgrade(release, "nvidia/gpu-operator", _environment(pairs))


def operator_cdi(release: Release) -> str:
    """CDI by the Operator's chart, without another version."""
    return _upgrade(release, "nvidia/gpu-operator", ["--set cdi.enabled=true"])


def operator_newer(release: Release, least: str) -> str:
    """Another version: the old release's own defaults (CDI off) are not to be kept.

    helm.sh: ``--reuse-values`` keeps the defaults of the old chart, ``--reset-then-reuse-values``
    (3.14) only what was set.
    """
    name, space = release.name or "RELEASE", release.namespace or "NAMESPACE"
    return (
        f"helm upgrade {name} nvidia/gpu-operator -n {space} --version={least}"
        " --reset-then-reuse-values"
    )


def _upgrade(release: Release, chart: str, values: Iterable[str]) -> str:
    name, space = release.name or "RELEASE", release.namespace or "NAMESPACE"
    # The Operator's chart is called v25.10.0, the plugin's 0.17.1.
    number = release.chart or release.version
    if number and chart.endswith("operator"):
        number = f"v{number.removeprefix('v')}"
    version = f" --version={number}" if number else ""
    return f"helm upgrade {name} {chart} -n {space}{version} --reuse-values " + " ".join(values)


def _environment(pairs: list[tuple[str, str]]) -> Iterable[str]:
    for index, (name, value) in enumerate(pairs):
        at = f"devicePlugin.env[{index}]"
        yield f"--set {shlex.quote(f'{at}.name={name}')}"
        # A comma ends a value of --set; "true" has to stay a string (ClusterPolicy wants one).
        said = f"ITS_{name}" if value == HIDDEN else value.replace(",", r"\,")
        yield f"--set-string {shlex.quote(f'{at}.value={said}')}"
