"""A fact has one name: its module, its class, its field of a node's facts, its folder of cases."""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from pyinfra_nvml.facts.node import SOURCES, NodeState
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown
from tests import answers

# Made of others, or put beside them by a cluster (fleet/kubectl.py).
NOT_SOURCES = {"cluster"}

BEFORE = {
    "automatic_updates": "Updates",
    "cgroup": "Hierarchy",
    "container_libraries": "Libraries",
    "container_toolkit": "Toolkit",
    "docker_engine": "Engine",
    "docker_inspect": "Running",
    "gpu_containers": "Containers",
    "gpu_processes": "Work",
    "nvidia_devices": "Devices",
    "nvidia_driver": "Driver",
    "nvidia_library": "ManagementLibrary",
    "nvidia_log": "KernelLog",
    "nvidia_module": "Module",
    "nvidia_packages": "Packages",
    "nvidia_params": "Params",
    "oci_specs": "Specs",
    "package_holds": "Holds",
    "pod_runtime": "PodRuntimes",
    "reboot_conditions": "Conditions",
    "runtime_versions": "Runtimes",
    "stuck_processes": "StuckInKernel",
    "systemd_manager": "Manager",
}
"""Names of 0.1 that an operator may have typed: ``pyinfra HOST fact`` takes them until 0.3."""


def camel(module: str) -> str:
    return "".join(word.capitalize() for word in module.split("_"))


@pytest.mark.parametrize("source", answers.sources(), ids=answers.name)
def test_the_class_is_named_as_its_module(source: type[Source[object]]) -> None:
    assert source.__name__ == camel(source.__module__.rpartition(".")[2])


@pytest.mark.parametrize("field", [field.name for field in fields(NodeState)])
def test_the_field_is_named_as_its_fact(field: str) -> None:
    names = {answers.name(source) for source in answers.sources()}
    assert field in NOT_SOURCES or f"{field}.{camel(field)}" in names


@pytest.mark.parametrize("field", [field.name for field in fields(NodeState)])
def test_the_field_has_the_type_of_its_facts_value(field: str) -> None:
    if field in NOT_SOURCES:
        assert field not in SOURCES
        return
    (base,) = vars(SOURCES[field])["__orig_bases__"]
    assert get_type_hints(NodeState)[field] == get_args(base)[0] | Unknown


@pytest.mark.parametrize("module", BEFORE)
def test_the_name_before_still_leads_to_the_fact(module: str) -> None:
    found = importlib.import_module(f"pyinfra_nvml.facts.{module}")
    assert getattr(found, BEFORE[module]) is getattr(found, camel(module))
