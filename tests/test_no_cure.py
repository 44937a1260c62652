"""Where another cgroup driver would cure nothing: what the plan of such a node says."""

from __future__ import annotations

from typing import Any

import pytest

from pyinfra_nvml.plans import engine_plan_text as plan_text
from pyinfra_nvml.plans.engine_plan import plan_engine
from tests import recordings

HOOK: dict[str, dict[str, Any]] = {
    "container_toolkit.programs": {
        "out": "on-path nvidia-container-runtime-hook /usr/bin/nvidia-container-runtime-hook\n"
    },
    "container_toolkit.version": {"out": "NVIDIA Container Toolkit CLI version 1.17.8\n"},
    "container_toolkit.specs": {"rc": 2},
}
CONFIG = "/etc/nvidia-container-runtime/config.toml"
SHUT: dict[str, dict[str, Any]] = {
    "container_toolkit.config": {
        "rc": 2,
        "out": f"{CONFIG}:[nvidia-container-cli]\n{CONFIG}:no-cgroups = true\n",
    }
}
GUEST = {"machine.self": {"out": "uid 0\narch x86_64\nuserns 100000\n"}}
VAIN = f"nothing to do: no-cgroups = true in {CONFIG}: containers start without their GPU"
NEEDLESS = "nothing to do: the engine is on systemd; no GPU comes by the legacy hook here"
# Node, answers that differ, overruled, what the plan's first line says.
CASES: dict[str, tuple[str, dict[str, Any], tuple[str, ...], str]] = {
    "by CDI alone": ("gpu_good", {}, (), NEEDLESS),
    "by CDI alone, though the node's /etc is rebuilt": ("gpu_nixos", {}, (), NEEDLESS),
    "no device filter can be set": (
        "trixie_exposed",
        GUEST,
        (),
        "nothing to do: the engine is on systemd; an unprivileged system container",
    ),
    "by CDI alone, all the same": (
        "gpu_good",
        {},
        ("harmless",),
        "/etc/docker/daemon.json: exec-opts native.cgroupdriver=cgroupfs",
    ),
    "containers not to be seen": (
        "gpu_good",
        {"container_devices.walk": {"rc": 124}},
        (),
        "/etc/docker/daemon.json: exec-opts native.cgroupdriver=cgroupfs",
    ),
    "the toolkit not to be read": (
        "gpu_good",
        {"container_toolkit.config": {"rc": 124}, "container_toolkit.programs": {"rc": 124}},
        (),
        "/etc/docker/daemon.json: exec-opts native.cgroupdriver=cgroupfs",
    ),
    "exposed by the hook, before the node went to CDI": (
        "trixie_exposed",
        {"container_toolkit.programs": {"out": ""}, "container_toolkit.specs": {"rc": 2}},
        (),
        "/etc/docker/daemon.json: exec-opts native.cgroupdriver=cgroupfs",
    ),
    "no-cgroups, on systemd": ("trixie_exposed", {**HOOK, **SHUT}, (), VAIN),
    "no-cgroups, and whether the hook serves is not known": (
        "trixie_exposed",
        {**HOOK, **SHUT, "container_toolkit.programs": {"rc": 124}},
        (),
        f"refused: container toolkit: saw no-cgroups = true in {CONFIG}, and container_toolkit",
    ),
    "no-cgroups, on systemd, overruled": (
        "trixie_exposed",
        {**HOOK, **SHUT},
        ("no-cgroups",),
        "/etc/docker/daemon.json: exec-opts native.cgroupdriver=cgroupfs",
    ),
    "no-cgroups, on cgroupfs, GPUs refused": ("gpu_config", {}, (), VAIN),
    "no-cgroups, on cgroupfs, nothing exposed": (
        "forky_cgroupfs",
        {**HOOK, **SHUT},
        (),
        "nothing to do: the engine is on cgroupfs already",
    ),
    "no-cgroups, and CDI serves every GPU": ("gpu_good", SHUT, (), NEEDLESS),
}


@pytest.mark.parametrize("case", CASES)
def test_the_plan_says(case: str) -> None:
    node, answers, overruled, text = CASES[case]
    made = plan_engine(recordings.node(node, answers), "cgroupfs", overrule=overruled)
    told = list(plan_text.engine_plan_lines(made, diff=False))
    assert told[0].startswith(text), told
    assert made.acts is text.startswith("/")


def test_the_words_name_the_command() -> None:
    assert plan_engine(recordings.node("trixie_exposed", {**HOOK, **SHUT}), "cgroupfs").idle == (
        f"no-cgroups = true in {CONFIG}: containers start without their GPU on either driver;"
        " nvidia-ctk config --in-place --set nvidia-container-cli.no-cgroups=false, then run this"
        " again (overrule = 'no-cgroups' goes on all the same)"
    )


def test_the_way_back_to_systemd_is_nobodys_cure_and_is_made() -> None:
    node = recordings.node("gpu_dgx")
    assert plan_engine(node, "systemd").restart
