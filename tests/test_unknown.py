"""A probe that fails takes away what it would have told, and nothing in a value claims "none"."""

from __future__ import annotations

import re

import pytest

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Probe, Sections
from tests import recordings
from tests.answers import AnySource, bases, name, sources
from tests.failures import claims, failures, unknowns

# Where a probe's failure is no loss: the value is the same without it, for this reason.
NO_LOSS = {
    (
        "container_toolkit.ContainerToolkit",
        "container_toolkit.version",
    ): "no program, or the number came",
    ("fabric_manager.FabricManager", "nvidia_packages.dkms"): "no package of its is built by dkms",
    ("fabric_manager.FabricManager", "nvidia_packages.dpkg"): "its packages are rpm's",
    ("fabric_manager.FabricManager", "nvidia_packages.rpm"): "its packages are dpkg's",
    (
        "gpu_containers.GpuContainers",
        "daemons.processes",
    ): "only asked where docker does not answer",
    ("gpu_containers.GpuContainers", "docker_inspect.running"): "/proc shows that no dockerd runs",
    ("gpu_containers.GpuContainers", "oci_specs.read"): "there is no container to have one",
    ("gpu_containers.GpuContainers", "scopes.show"): "there is no container to be held by one",
    ("kubelet.Kubelet", "kubelet.version"): "no kubelet is set up, or the number came",
    ("mig.Mig", "nvidia_devices.list"): "no module is loaded",
    ("mig.Mig", "nvidia_params.files"): "no module is loaded",
    ("nvidia_driver.NvidiaDriver", "nvidia_log.lines"): "no driver, so none that logs",
    ("nvidia_params.NvidiaParams", "nvidia_params.files"): "no module; it is another file",
    ("gpu_operator.GpuOperator", "docker_inspect.running"): "no spec of Docker's, so no container",
    ("package_holds.PackageHolds", "nvidia_packages.dkms"): "dkms knows no hold",
    ("package_holds.PackageHolds", "nvidia_packages.rpm"): "rpm knows no hold; dnf's are files",
    ("pod_runtime.PodRuntime", "kubelet.settings"): "flags or the process tell the runtime",
    ("pod_runtime.PodRuntime", "kubelet.version"): "the endpoint tells of Docker, or no kubelet",
    ("pod_runtime.PodRuntime", "pod_runtime.files"): "no kubelet, or its pods run on Docker",
    ("pod_runtime.PodRuntime", "runtime_versions.ask"): "the imports come to the same either way",
    ("systemd_manager.SystemdManager", "systemd_manager.containerd"): "systemd is not PID 1",
    ("systemd_manager.SystemdManager", "systemd_manager.journal"): "systemd is not PID 1",
}
# A container is called by its id where its name is not known.
LABEL = re.compile(r"value\.containers\[\d+\]\.name: [0-9a-f]{12}, ")


def faults(source: AnySource, probe: Probe, base: Sections) -> list[str]:
    """What is wrong with the values that the failures of this probe lead to."""
    whole, found = source.judged(base), []
    for word, failed in failures(probe, base[probe.name]).items():
        value = source.judged({**base, probe.name: failed})
        told = (claim for claim in claims(whole, value) if not LABEL.match(claim))
        found += [f"{word}: {claim}" for claim in told]
        new = unknowns(value) - unknowns(whole)
        if value == whole and (name(source), probe.name) in NO_LOSS:
            continue
        if not new and not unknowns(whole):
            found.append(f"{word}: nothing is unknown in {str(value)[:200]}")
        elif word != "not understood" and not any(word in one.reason for one in unknowns(value)):
            # Where two probes tell the same, the other one's reason may stand.
            found += [] if unknowns(whole) else [f"{word}: not in {new}"]
    return found


@pytest.mark.parametrize("source", [one for one in sources() if one is not Node], ids=name)
def test_a_failed_probe_claims_nothing(source: AnySource) -> None:
    wrong = []
    nodes = {**bases(source), recordings.BLANK: recordings.sections(recordings.BLANK)}
    for case, base in nodes.items():
        for probe in source.probes:
            if probe.name in base:
                wrong += [f"{case}, {probe.name}, {it}" for it in faults(source, probe, base)]
    assert not wrong, "\n".join(wrong)


def test_no_exception_has_outlived_its_reason() -> None:
    known = {(name(source), probe.name) for source in sources() for probe in source.probes}
    assert set(NO_LOSS) <= known
