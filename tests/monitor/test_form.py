"""The form of the MIG monitor that a node needs, or every reason against one."""

from __future__ import annotations

from typing import Any

import pytest

from pyinfra_nvml.facts.mig import MONITOR_NODE
from pyinfra_nvml.plans.mig_monitor_form import Choice, Form, choose
from tests import recordings

Answers = dict[str, dict[str, Any]]


def out(text: str, rc: int = 0) -> dict[str, Any]:
    return {"out": text, "rc": rc}


def toolkit(version: str, mode: str = "auto") -> Answers:
    config = "/etc/nvidia-container-runtime/config.toml"
    return {
        "container_toolkit.version": out(f"NVIDIA Container Toolkit CLI version {version}\n"),
        "container_toolkit.config": out(
            f'{config}:[nvidia-container-runtime]\n{config}:mode = "{mode}"\n', 2
        ),
    }


def engine(version: str = "28.3.0", runtimes: str = '"runc": {}', **more: str) -> Answers:
    said = {
        "ServerVersion": f'"{version}"',
        "CgroupDriver": '"cgroupfs"',
        "CgroupVersion": '"2"',
        "DefaultRuntime": '"runc"',
        "Runtimes": f"{{{runtimes}}}",
        "RuncCommit": '{"ID": "v1.2.5"}',
        "CDISpecDirs": "null",
        "SecurityOptions": "[]",
        **more,
    }
    text = ", ".join(f'"{key}": {value}' for key, value in said.items())
    return {"docker_engine.info": out(f"{{{text}}}")}


HOOK = "on-path nvidia-container-runtime-hook /usr/bin/nvidia-container-runtime-hook\n"
NVIDIA = '"runc": {}, "nvidia": {}'
SPEC = "/var/run/cdi/nvidia.yaml:kind: nvidia.com/gpu\n"
NONE = {"container_toolkit.programs": out(""), "container_toolkit.version": out("", 127)}
NONE |= {"container_toolkit.config": out("", 2), "container_toolkit.specs": out("", 2)}
KUBELET = {
    "daemons.processes": out(
        "process 702 kubelet\ncgroup 0::/system.slice/kubelet.service\nuid 0\nnspid 702\n"
        "arg /usr/bin/kubelet\n"
        "arg --container-runtime-endpoint=unix:///run/containerd/containerd.sock\n"
        "hidepid 0\n"
    ),
    "kubelet.settings": out("", 2),
    "kubelet.version": out("Kubernetes v1.31.2\n"),
}

FORMS: dict[str, tuple[Answers, Form, bool]] = {
    "legacy, runtime": (toolkit("1.17.8"), Form.RUNTIME, False),
    "legacy by its mode": (toolkit("1.20.0", "legacy"), Form.RUNTIME, False),
    "jit-cdi that ignores": (toolkit("1.18.1"), Form.RUNTIME_NODE, False),
    "jit-cdi that ignores, by name": (toolkit("1.20.0", "jit-cdi"), Form.RUNTIME_NODE, False),
    "jit-cdi that reads": (toolkit("1.20.1"), Form.RUNTIME, False),
    "mode cdi": (toolkit("1.20.1", "cdi"), Form.RUNTIME_NODE, False),
    "hook alone": (toolkit("1.17.8") | engine(), Form.HOOK, False),
    "CDI alone": (
        NONE
        | engine(CDISpecDirs='["/etc/cdi", "/var/run/cdi"]')
        | {"container_toolkit.specs": out(SPEC, 2)},
        Form.CDI_NODE,
        False,
    ),
    "kubernetes, legacy": (toolkit("1.17.8") | KUBELET, Form.RUNTIME, True),
    "kubernetes, jit-cdi that ignores": (toolkit("1.19.0") | KUBELET, Form.RUNTIME_NODE, True),
    "kubernetes, jit-cdi that reads": (toolkit("1.20.1") | KUBELET, Form.RUNTIME, True),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_follows_from_the_toolkit(name: str) -> None:
    answers, form, kubernetes = FORMS[name]
    choice = choose(recordings.node("gpu_mig", answers))
    assert isinstance(choice, Choice), choice
    assert (choice.form, choice.kubernetes) == (form, kubernetes)
    assert choice.remarks == ()


MODES = "mig.modes"
NO_INSTANCE = {"nvidia_params.files": out("", 2)}
REFUSED: dict[str, tuple[Answers, str]] = {
    "MIG off": ({MODES: out("0, Disabled, Disabled\n")} | NO_INSTANCE, "MIG: saw it off"),
    "MIG unknown": ({MODES: {"rc": "hung"}} | NO_INSTANCE, "MIG: saw mig.modes: hung"),
    "no module": ({MODES: out("absent\n")}, "MIG: saw no nvidia module"),
    "no way": (NONE | engine(), "Docker engine: saw no way to give a GPU"),
    "rootless": (
        engine(runtimes=NVIDIA, SecurityOptions='["name=rootless"]'),
        "Docker engine: saw it rootless",
    ),
    "no toolkit on Kubernetes": (NONE | KUBELET, "container toolkit: saw none"),
    "toolkit of no version": (
        {"container_toolkit.version": out("what\n")},
        "container toolkit: saw nvidia-ctk: no version",
    ),
    "docker kept from this user": (
        {"docker_engine.info": {"rc": 1, "err": "permission denied"}},
        "Docker engine: saw docker_engine.info: exit 1",
    ),
    "no node to pass": (
        toolkit("1.18.1")
        | {"nvidia_devices.list": out("node 666 0 0 c3 ff /dev/nvidiactl\nbus\n")},
        f"{MONITOR_NODE}: saw it not there",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_without_a_right_form_is_refused_with_the_reason(name: str) -> None:
    answers, want = REFUSED[name]
    against = choose(recordings.node("gpu_mig", answers))
    assert not isinstance(against, Choice), against
    assert any(str(reason).startswith(want) for reason in against), [str(r) for r in against]


def test_every_reason_is_told_at_once() -> None:
    answers = {MODES: out("0, Disabled, Disabled\n")} | NO_INSTANCE | NONE | engine()
    against = choose(recordings.node("gpu_mig", answers))
    assert not isinstance(against, Choice) and len(against) == 2


def test_a_monitor_by_the_hook_behind_systemd_is_told_that_it_will_lose_its_gpus() -> None:
    driver = engine(CgroupDriver='"systemd"')
    choice = choose(recordings.node("gpu_mig", toolkit("1.17.8") | driver))
    assert isinstance(choice, Choice) and "deploys/fix_cgroup.py first" in choice.remarks[0]
