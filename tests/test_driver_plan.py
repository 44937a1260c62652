"""What the fix of a driver would do to a node: flag, holds, reboot, or every reason against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState, ContainerLibrary
from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.reboot_conditions import Process, RebootConditionsState
from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans import driver_plan_text as driver_text
from pyinfra_nvml.plans.driver_plan import (
    DriverPlan,
    NodeAnswers,
    library,
    plan_driver,
)
from tests import recordings

TRAINER = recordings.node("gpu_skew").docker_inspect.containers[0].id  # type: ignore[union-attr]
FILE = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so."
CONDITIONS = RebootConditionsState(systemd=True, changed="2026-03-01T04:05:06+00:00")
ASKED = NodeAnswers(
    means=HoldToolsState(("apt-mark", "unattended-upgrade")),
    conditions=CONDITIONS,
    libraries=ContainerLibrariesState((ContainerLibrary(TRAINER, "550.90.07", True, FILE),)),
)
HELD = (
    ("apt-mark", "libnvidia-compute-550:amd64"),
    ("apt-mark", "nvidia-dkms-550"),
    ("apt-mark", "nvidia-utils-550"),
)


def node(name: str = "gpu_skew", **answers: Any) -> NodeState:
    """A recorded node; ``nvidia_module__loaded=...`` replaces nvidia_module.loaded."""
    return recordings.node(name, {key.replace("__", "."): each for key, each in answers.items()})


def planned(state: NodeState, asked: NodeAnswers = ASKED, **settings: Any) -> DriverPlan:
    return plan_driver(state, judge(state, None), asked, **settings)


def told(made: DriverPlan) -> str:
    return "\n".join(driver_text.driver_plan_lines(made))


def test_a_skewed_node_is_flagged_and_held() -> None:
    made = planned(node())
    assert made.acts
    assert not made.reboot
    assert made.flag
    assert made.flag.startswith("driver: module 550.90.07, libnvidia-ml 550.107.02")
    assert made.since == "2026-03-01T04:05:06+00:00"
    assert made.holds.add == HELD
    assert "apt-mark unhold libnvidia-compute-550:amd64" in told(made)
    assert "a reboot ends it (--data reboot=true)" in told(made)


def test_a_reboot_names_what_stops_and_how_it_comes_back() -> None:
    asked = replace(ASKED, conditions=replace(CONDITIONS, users=(Process(4242, "python3"),)))
    made = planned(node(), asked, reboot=True)
    assert made.reboot
    assert "reboot: 2 containers stop  [reboot: the node goes down]" in told(made)
    assert "trainer: comes back by its policy (unless-stopped)" in told(made)
    assert "processes with a GPU open, which end: python3 (4242)" in told(made)


def test_the_library_whose_coming_began_the_skew() -> None:
    assert library(node()).endswith("/libnvidia-ml.so.550.107.02")
    assert library(Unknown("no answer")) == ""


def test_a_node_in_step_is_not_rebooted() -> None:
    made = planned(node("gpu_good"), reboot=True)
    assert not made.acts
    assert made.refusals == ()
    assert told(made) == "driver: in step, no reboot is needed"


def test_a_node_without_a_driver_has_nothing_to_do() -> None:
    made = planned(node("trixie_exposed"), reboot=True)
    assert not made.acts
    assert "no NVIDIA GPU on the PCI bus" in told(made)
    assert "there is nothing to hold" in told(made)


def test_a_driver_that_was_not_read_is_a_reason_against_it() -> None:
    made = planned(replace(node(), nvidia_driver=Unknown("nvidia_driver: timed out")))
    assert [str(refusal) for refusal in made.refusals] == [
        "driver packages: saw nvidia_driver: timed out, want to know them"
    ]
    assert not made.acts


def test_what_was_held_is_let_go_where_the_driver_is_gone() -> None:
    asked = replace(ASKED, means=HoldToolsState(("apt-mark",), held=HELD))
    made = planned(replace(node(), nvidia_driver=None), asked, hold="release")
    assert (made.holds.drop, made.refusals) == (HELD, ())


def test_who_reboots_it_anyway_is_told() -> None:
    made = planned(node(), replace(ASKED, conditions=replace(CONDITIONS, reboots=("kured",))))
    assert not made.refusals
    assert "kured may reboot it earlier" in told(made)


def disk(version: str) -> dict[str, str]:
    """The answer of nvidia_module.disk: one kernel with the module of this version."""
    kernel = "5.15.0-126-generic"
    path = f"/lib/modules/{kernel}/updates/dkms/nvidia.ko"
    lines = [f"running {kernel}", "asked", f"kernel {kernel}", "image", f"module {path}"]
    return {"out": "\n".join([*lines, f"version {version}"]) + "\n"}


def system(line: str) -> dict[str, Any]:
    """The answer of machine.files with one line more."""
    return {"rc": 2, "out": f"/proc/sys/kernel/random/boot_id:0\n{line}\n"}


KUBELET = {
    "out": "process 120 kubelet\nuid 0\nnspid 120\narg /usr/bin/kubelet\n"
    "arg --container-runtime-endpoint=unix:///run/containerd/containerd.sock\nhidepid 0\n"
}
IMAGE = ContainerLibrariesState(
    (ContainerLibrary(TRAINER, "550.90.07", False, f"{FILE}550.90.07"),)
)

AGAINST: dict[str, tuple[dict[str, Any], dict[str, Any], Overrule | None, str]] = {
    "module on disk stale": (
        {"nvidia_module__disk": disk("550.90.07")},
        {},
        None,
        "a reboot would not help: kernel 5.15.0-126-generic has 550.90.07 on disk",
    ),
    "module ahead of the library": (
        {"nvidia_module__loaded": {"rc": 2, "out": "/sys/module/nvidia/version:550.120"}},
        {},
        None,
        "the driver was taken back to 550.107.02",
    ),
    "module on disk not to be read": (
        {"nvidia_module__disk": {"rc": 124}},
        {},
        None,
        "module on disk: saw nvidia_module.disk: timed out, want to know that a reboot helps",
    ),
    "this machine": ({}, {"local": True}, None, "ssh from another machine"),
    "kubelet": (
        {"daemons__processes": KUBELET},
        {},
        Overrule.KUBELET,
        "kubectl drain NODE --ignore-daemonsets",
    ),
    "kured": (
        {},
        {"conditions": replace(CONDITIONS, reboots=("kured",))},
        Overrule.KURED,
        "let it reboot by the flag",
    ),
    "slurm": (
        {},
        {"conditions": replace(CONDITIONS, schedulers=("slurmd",))},
        Overrule.SCHEDULER,
        "scontrol reboot ASAP nextstate=RESUME NODE",
    ),
    "dpkg at work": (
        {},
        {"conditions": replace(CONDITIONS, package_managers=(Process(440, "dpkg"),))},
        None,
        "package manager: saw dpkg (440) at work, want none; let it end",
    ),
    "inhibitor": (
        {},
        {"conditions": replace(CONDITIONS, blocks=("backup: runs until 06:00",))},
        None,
        "inhibitor: saw backup: runs until 06:00, want none that blocks a shutdown",
    ),
    "shutdown scheduled": (
        {},
        {"conditions": replace(CONDITIONS, scheduled="poweroff")},
        None,
        "shutdown: saw a poweroff that somebody has scheduled",
    ),
    "conditions that could not be told": (
        {},
        {"conditions": Unknown("reboot_conditions.ask: timed out")},
        None,
        "reboot: saw reboot_conditions.ask: timed out, want to know what it would meet",
    ),
    "library in an image": (
        {},
        {"libraries": IMAGE},
        Overrule.LIBRARIES,
        "container trainer: saw libnvidia-ml 550.90.07 in its image, want the node's, 550.107.02",
    ),
    "libraries not to be told": (
        {},
        {"libraries": Unknown("want root to look into /proc")},
        Overrule.LIBRARIES,
        "libraries in containers: saw want root to look into /proc",
    ),
    "--rm": (
        {
            "docker_inspect__running": {
                "out": f'{{"Id": "{"5" * 64}", "Name": "/x", "AutoRemove": true}}\n'
            }
        },
        {},
        Overrule.REMOVE,
        "containers: saw --rm on x, which Docker removes when it stops",
    ),
    "containers not to be listed": (
        {"docker_inspect__running": {"rc": 124}},
        {},
        None,
        "running containers: saw docker_inspect.running: timed out, want to know what stops",
    ),
}


@pytest.mark.parametrize("case", AGAINST)
def test_a_reboot_is_refused(case: str) -> None:
    answers, more, setting, text = AGAINST[case]
    state, asked = node(**answers), replace(ASKED, **more)
    made = planned(state, asked, reboot=True)
    assert not made.acts
    assert text in told(made)
    assert {refusal.overrule for refusal in made.refusals} == {setting}
    # Without the reboot nothing is against the flag and the holds.
    assert planned(state, asked).refusals == ()
    overruled = planned(state, asked, reboot=True, overrule=[setting] if setting else [])
    assert overruled.reboot is bool(setting and not overruled.refusals)


def test_windows_brings_the_driver() -> None:
    made = planned(node("gpu_wsl"), reboot=True)
    assert "wsl --shutdown on the Windows side" in told(made)
    assert [refusal.overrule for refusal in made.refusals] == [None]
    assert not planned(node("gpu_wsl")).acts


def test_a_guest_is_not_rebooted_for_the_module_of_its_host() -> None:
    made = planned(node(machine__files=system("/run/systemd/container:lxc")), reboot=True)
    assert not made.acts
    assert "machine: saw a container (lxc): the module is its host's" in told(made)
    assert "reboot the host (overrule = 'guest')" in told(made)


def test_every_reason_is_told_at_once() -> None:
    lxc = {"machine__files": system("/run/systemd/container:lxc")}
    answers = {**AGAINST["module on disk stale"][0], **lxc, **AGAINST["--rm"][0]}
    assert len(planned(node(**answers), reboot=True).refusals) == 3


def test_a_user_without_root_changes_nothing() -> None:
    answer = {"out": "uid 1000\narch x86_64\n"}
    made = planned(node(machine__self=answer))
    assert "user: saw uid 1000, want root" in told(made)
    assert planned(node(machine__self=answer), hold="leave").refusals == ()


def test_containers_of_a_run_that_died_are_brought_back() -> None:
    made = planned(node("gpu_good"), replace(ASKED, interrupted=True), reboot=True)
    assert made.recover
    assert made.acts
    assert not made.reboot
