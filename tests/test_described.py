"""A described node reads like the recorded one that it describes."""

from __future__ import annotations

import pytest

from pyinfra_nvml.facts.node import NodeState
from tests import described, recordings

GOOD = {
    "system": {"name": "Ubuntu 24.04"},
    "docker": {"version": "29.2.0", "driver": "systemd", "runc": "1.3.3"},
    "toolkit": {"version": "1.19.1", "specs": {"/var/run/cdi/nvidia.yaml": "580.95.05"}},
    "driver": {"version": "580.95.05"},
    "containers": [{"name": "trainer", "asks": "cdi", "by": "cdi", "scope": "listed"}],
}


def made() -> NodeState:
    """gpu_good, described on top of another node, so that what it does not write shows."""
    return recordings.node("gpu_skew", described.answers(GOOD))


@pytest.mark.parametrize("fact", ["gpu_containers", "docker_inspect", "oci_specs", "cgroup", "mig"])
def test_the_same_values_as_recorded(fact: str) -> None:
    assert getattr(made(), fact) == getattr(recordings.node("gpu_good"), fact)


@pytest.mark.parametrize(
    ("fact", "parts"),
    [
        ("nvidia_driver", ("loaded", "library", "devices", "log", "on_disk")),
        ("container_toolkit", ("programs", "version", "specs")),
        ("machine", ("kernel", "os_id", "os_version", "os_name")),
        ("docker_unit", ("engines", "arguments")),
    ],
)
def test_the_same_parts_as_recorded(fact: str, parts: tuple[str, ...]) -> None:
    ours, recorded = getattr(made(), fact), getattr(recordings.node("gpu_good"), fact)
    for part in parts:
        assert getattr(ours, part) == getattr(recorded, part), part


def test_a_part_that_it_does_not_know_is_named() -> None:
    with pytest.raises(KeyError, match="dokcer"):
        described.answers({"dokcer": {}})


def test_a_version_that_yaml_made_a_number_is_named() -> None:
    with pytest.raises(TypeError, match=r"550\.100 is not 550\.1"):
        described.answers({"system": {"name": "Debian 12"}, "driver": {"version": 550.1}})
