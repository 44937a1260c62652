"""A deploy acts on a node only where a finding there carries a remedy of its."""

from __future__ import annotations

import pytest

from pyinfra_nvml.audit.deploy_plans import carried_out, cgroup_driver_plan
from pyinfra_nvml.audit.verdict import verdict
from pyinfra_nvml.facts.docker_engine import EngineInfo
from tests import recordings

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
