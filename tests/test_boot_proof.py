"""Whether a node came back right: module, libraries and containers of one version."""

from __future__ import annotations

from typing import Any

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState, ContainerLibrary
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.boot_proof import boot_shortcomings
from tests import recordings

RIGHT = {"nvidia_module.loaded": {"rc": 2, "out": "/sys/module/nvidia/version:550.107.02"}}
NONE = ContainerLibrariesState(())


def missed(
    answers: dict[str, Any],
    libraries: ContainerLibrariesState | Unknown = NONE,
    before: bool = False,
) -> list[str]:
    node = recordings.node("gpu_skew", {**RIGHT, **answers})
    results = judge(node, None)
    return list(boot_shortcomings(node, results, libraries, results if before else ()))


def library(version: str, mounted: bool = True) -> ContainerLibrariesState:
    path = f"/usr/lib64/libnvidia-ml.so.{version}"
    return ContainerLibrariesState((ContainerLibrary("4" * 64, version, mounted, path),))


def test_all_of_one_version() -> None:
    assert missed({}, library("550.107.02")) == []


REFUSED = {
    "out": "uid 0\ninhabitant 9\nnode nvidiactl c3 ff\ncgroup /docker/" + "4" * 64 + "\n"
    "open nvidiactl\nsh: can't open it: Operation not permitted\nrc 1\n"
}


@pytest.mark.parametrize(
    ("answers", "libraries", "words"),
    [
        (
            {"nvidia_module.loaded": {"rc": 2, "out": "/sys/module/nvidia/version:550.90.07"}},
            NONE,
            "driver: saw module 550.90.07",
        ),
        ({"nvidia_module.loaded": {"rc": 2}}, NONE, "saw no nvidia module in memory"),
        ({"nvidia_module.loaded": {"rc": 124}}, NONE, "saw nvidia_module.loaded: timed out"),
        (
            {"nvidia_library.files": {"rc": 124}},
            NONE,
            "nvidia_library.files: timed out, want to know it",
        ),
        ({}, library("550.90.07"), "saw libnvidia-ml 550.90.07 mounted, want 550.107.02"),
        ({}, library("535.161.07", mounted=False), "535.161.07 in its image, want 550.107.02"),
        ({}, Unknown("it hung"), "libraries in containers: saw it hung, want 550.107.02"),
        ({"container_devices.walk": REFUSED}, NONE, "saw /dev/nvidiactl refused (EPERM)"),
    ],
)
def test_what_is_not_right(
    answers: dict[str, Any], libraries: ContainerLibrariesState | Unknown, words: str
) -> None:
    told = missed(answers, libraries)
    assert any(words in line for line in told), told


def test_what_was_found_before_is_not_of_this_boot() -> None:
    assert missed({"container_devices.walk": REFUSED}, before=True) == []


def test_a_skew_from_before_still_counts() -> None:
    skewed = {"nvidia_module.loaded": {"rc": 2, "out": "/sys/module/nvidia/version:550.90.07"}}
    assert missed(skewed, before=True)
