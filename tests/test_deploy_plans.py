"""A deploy acts on a node only where a finding there carries a remedy of its."""

from __future__ import annotations

import pytest

from pyinfra_nvml.audit.deploy_plans import carried_out, cgroup_driver_plan, driver_plan
from pyinfra_nvml.audit.verdict import verdict
from pyinfra_nvml.facts.container_libraries import ContainerLibrariesState
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.reboot_conditions import RebootConditionsState
from pyinfra_nvml.plans.driver_plan import NodeAnswers
from tests import recordings

PLUGIN = "/usr/lib/python3.9/site-packages/dnf-plugins/versionlock.py"
ASKED = NodeAnswers(
    means=HoldToolsState(("apt-mark", "unattended-upgrade", "dnf"), (PLUGIN,)),
    conditions=RebootConditionsState(systemd=True),
    libraries=ContainerLibrariesState(()),
)
NAMES = sorted(path.parent.name for path in recordings.NODES.glob("*/recording.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_no_finding_no_change(name: str) -> None:
    judged = verdict(name, recordings.node(name))
    made = cgroup_driver_plan(judged, "cgroupfs")
    if made.write or made.restart:
        assert carried_out(judged, "fix_cgroup")
    if made.acts:
        assert judged.word not in ("ok", "no GPU", "not applicable", "advice")


def test_a_node_with_nothing_of_nvidias_is_left_alone_unless_its_owner_says_otherwise() -> None:
    judged = verdict("cpu", recordings.node("no_nvidia"))
    assert judged.summary == judged.word == "no GPU"
    made = cgroup_driver_plan(judged, "cgroupfs")
    assert made.idle == "no finding on this node asks for the cgroup driver cgroupfs"
    info = judged.state.engine_info  # type: ignore[union-attr]
    # A restart that was interrupted is still ended, with the driver that the engine has.
    assert isinstance(info, EngineInfo) and made.driver == info.cgroup_driver
    assert cgroup_driver_plan(judged, "cgroupfs", enforce=True).restart


def test_what_could_not_be_told_is_a_refusal() -> None:
    hung = {"container_toolkit.programs": {"rc": 124}, "docker_inspect.running": {"rc": 124}}
    judged = verdict("hung", recordings.node("trixie_exposed", hung))
    made = cgroup_driver_plan(judged, "cgroupfs")
    assert made.refusals and not made.acts


@pytest.mark.parametrize("name", NAMES)
def test_no_finding_no_hold_and_no_reboot(name: str) -> None:
    judged = verdict(name, recordings.node(name))
    remedies = [
        remedy
        for finding in carried_out(judged, "fix_driver")
        for remedy in finding.remedies
        if remedy.deploy == "fix_driver"
    ]
    made = driver_plan(judged, ASKED, reboot=True)
    if made.holds.add:
        assert "hold-packages" in {remedy.id for remedy in remedies}
    if made.reboot:
        assert "reboot" in {remedy.id for remedy in remedies}
    # What a finding names without a reason against it is not refused by its own deploy.
    if remedies and not any(remedy.against for remedy in remedies):
        assert not made.refusals
        assert made.holds.add or made.reboot


def test_a_node_without_automatic_updates_is_not_held() -> None:
    judged = verdict(
        "skew", recordings.node("gpu_skew", {"automatic_updates.ask": {"out": "apt\n"}})
    )
    assert driver_plan(judged, ASKED).holds.add == ()
    assert driver_plan(judged, ASKED).flag


def test_whether_to_hold_could_not_be_told() -> None:
    judged = verdict("skew", recordings.node("gpu_skew", {"automatic_updates.ask": {"rc": 124}}))
    made = driver_plan(judged, ASKED)
    assert any("whether the driver is to be held" in str(refusal) for refusal in made.refusals)
    assert not driver_plan(judged, ASKED, hold="leave").refusals
