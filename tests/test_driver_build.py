"""What brings the nvidia module of a node, and the program that installs packages there."""

from __future__ import annotations

from typing import Any

import pytest

from pyinfra_nvml.combiners.driver_build import (
    Builder,
    DriverBuild,
    driver_build,
    package_manager,
)
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown
from tests import described, recordings

NO_DKMS = {"nvidia_packages.dkms": {"rc": 127}}
NO_DPKG = {"nvidia_packages.dpkg": {"rc": 127}, **NO_DKMS}


def node(system: dict[str, Any], rows: Any = "", **answers: Any) -> NodeState:
    said = {"system": system, "driver": {"version": "580.95.05", "packages": rows}}
    return recordings.node("gpu_good", described.answers(said) | answers)


def rpm(*names: str) -> dict[str, Any]:
    lines = [f"{name}|3:580.95.05-1" for name in (*names, "rpm")]
    return {**NO_DPKG, "nvidia_packages.rpm": {"out": "\n".join(lines) + "\n"}}


def debian(*names: str) -> str:
    return "".join(f"ii |{name}|580.95.05-1\n" for name in names)


UBUNTU, DEBIAN = {"name": "Ubuntu 24.04"}, {"name": "Debian 12"}
READY = debian("linux-modules-nvidia-580-generic", "linux-image-generic")
ROOT = "/run/nvidia/driver/usr/lib64/libnvidia-ml.so.580.95.05"
SILVERBLUE = {
    "rc": 2,
    "out": '/etc/os-release:ID=fedora\n/etc/os-release:PRETTY_NAME="Fedora (Silverblue)"\n',
}

KINDS: dict[str, tuple[NodeState, Builder]] = {
    "dkms by its package": (node(UBUNTU, debian("nvidia-dkms-580-open")), Builder.DKMS),
    "dkms by its own word": (
        node(DEBIAN, "", **{"nvidia_packages.dkms": {"out": "nvidia/580.95.05: added\n"}}),
        Builder.DKMS,
    ),
    "dkms of NVIDIA's rpm": (
        node({"name": "Rocky 9"}, **rpm("kmod-nvidia-latest-dkms")),
        Builder.DKMS,
    ),
    "ready-made": (node(UBUNTU, READY, **NO_DKMS), Builder.PREBUILT),
    "akmods": (node({"name": "Fedora 40"}, **rpm("akmod-nvidia-open")), Builder.AKMODS),
    "kmod": (node({"name": "RHEL 9"}, **rpm("kmod-nvidia-open")), Builder.KMOD),
    "KMP": (
        node({"name": "SLES 15"}, **rpm("nvidia-open-driver-G06-signed-kmp-default")),
        Builder.KMP,
    ),
    "pacman": (node({"name": "Arch Linux"}, **NO_DPKG), Builder.PACMAN),
    "libraries": (
        node(DEBIAN, debian("libnvidia-compute-580"), **NO_DKMS),
        Builder.LIBRARIES_ALONE,
    ),
    "run file": (node({"name": "Rocky 9"}, **NO_DPKG), Builder.RUN_FILE),
    "NixOS": (node({"name": "NixOS 24.05"}, **NO_DPKG), Builder.IMAGE),
    "Flatcar": (node({"name": "Flatcar"}, **NO_DPKG), Builder.IMAGE),
    "TrueNAS": (
        node({"name": "Debian 12", "kernel": "6.12.33-production+truenas"}, READY),
        Builder.IMAGE,
    ),
    "Silverblue": (
        node({"name": "Fedora 40"}, **{"machine.files": SILVERBLUE, **rpm("akmod-nvidia")}),
        Builder.IMAGE,
    ),
    "LXC": (node({"name": "Debian 12", "container": "lxc"}, READY), Builder.HOST),
    "driver container": (
        node(
            {"name": "RHEL 9"},
            **{**NO_DPKG, "nvidia_library.files": {"out": f"file {ROOT} {ROOT} \nmounted\n"}},
        ),
        Builder.CONTAINER,
    ),
    "WSL": (recordings.node("gpu_wsl"), Builder.WSL),
}


@pytest.mark.parametrize("kind", KINDS)
def test_who_brings_the_module(kind: str) -> None:
    state, builder = KINDS[kind]
    build = driver_build(state)
    assert isinstance(build, DriverBuild)
    assert build.by is builder


@pytest.mark.parametrize(
    "answers",
    [
        {"nvidia_packages.dpkg": {"rc": 124}, **NO_DKMS},
        {"nvidia_packages.dkms": {"rc": 124}},
        {"machine.self": {"rc": 124}, "machine.files": {"rc": 124}},
    ],
)
def test_what_was_not_read_is_no_answer(answers: dict[str, Any]) -> None:
    assert isinstance(driver_build(node(DEBIAN, **answers)), Unknown)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("Ubuntu 22.04", "apt"),
        ("Rocky 9", "dnf"),
        ("CentOS 7", "yum"),
        ("Amazon Linux 2", "yum"),
        ("Amazon Linux 2023", "dnf"),
        ("SLES 15", "zypper"),
        ("Arch Linux", "pacman"),
    ],
)
def test_the_systems_program_for_packages(name: str, program: str) -> None:
    assert package_manager(node({"name": name}, **NO_DPKG)) == program


def test_a_system_that_nobody_knows_has_no_program_to_name() -> None:
    assert isinstance(package_manager(node({"name": "NixOS 24.05"}, **NO_DPKG)), Unknown)
