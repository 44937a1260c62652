"""The engine's next start: what engine-config says of it, and what the plan makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pyinfra_nvml.audit.catalogue import judge
from pyinfra_nvml.facts.daemon_json import LIMIT
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.model.unknown import plain
from pyinfra_nvml.plans import restore_plan as restore
from pyinfra_nvml.plans.engine_plan import Plan, plan_engine
from pyinfra_nvml.settings.policy import Policy
from tests import described, recordings
from tests.test_checks import assert_holds
from tests.test_restore_plan import written

CASES = sorted((Path(__file__).parent / "engine").glob("*.yaml"))
LONG = '{"labels": ["%s"]}' % ("x" * (LIMIT - 20))


def answers(case: dict[str, Any]) -> dict[str, Any]:
    """A described node with some answers replaced, and lines put behind others."""
    if case["described"].get("daemon_json") == "long":
        case["described"]["daemon_json"] = LONG
    found: dict[str, Any] = described.answers(case["described"]) | case.get("answers", {})
    for probe, lines in case.get("append", {}).items():
        found[probe] = {**found[probe], "out": found[probe]["out"] + lines}
    return found


def kind(made: Plan) -> str:
    """The plan in one word."""
    return "refuse" if made.refusals else "act" if made.acts or made.restart else "idle"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_next_start_is_foreseen(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    node, want = recordings.node(case["node"], answers(case)), case["want"]
    result = next(one for one in judge(node, Policy()) if one.check == "engine-config")
    if "status" in want:
        assert result.status.value == want["status"], result
        findings = want.get("findings", [])
        assert len(result.findings) == len(findings), result.findings
        for found, wanted in zip(result.findings, findings, strict=True):
            assert_holds(plain(found), wanted)
    doubts = [f"{doubt.subject}: {doubt.reason}" for doubt in result.doubts]
    for text in want.get("doubts", []):
        assert any(text in doubt for doubt in doubts), doubts
    made = plan_engine(node, case.get("driver", "cgroupfs"), overrule=case.get("overrule", ()))
    refused = [str(refusal) for refusal in made.refusals]
    assert kind(made) == want["plan"], refused
    for text in want.get("refused", []):
        assert any(text in one for one in refused), refused
    if "live_restore" in want:
        assert made.live_restore is want["live_restore"]


EDITED = {"version": "26.1.5", "driver": "systemd", "edited": True}
CONTAINERS = [{"name": "trainer", "asks": "gpus", "by": "hook", "scope": "unlisted"}]


def edited_node(content: bytes) -> NodeState:
    """A node whose file was edited since the engine's start."""
    said = {"system": {"name": "Debian 13"}, "docker": EDITED, "daemon_json": content.decode()}
    return recordings.node("gpu_good", described.answers({**said, "containers": CONTAINERS}))


def test_what_an_earlier_run_wrote_is_no_edit_of_somebody_elses() -> None:
    """It ended between its write and its restart; the rest of the file was proven before."""
    bip = b'{"bip": "10.200.0.1/24"}'
    ours = b'{"bip": "10.200.0.1/24", "exec-opts": ["native.cgroupdriver=cgroupfs"]}'
    last = written(bip, ours, unproven=True)
    assert plan_engine(edited_node(ours), "cgroupfs", last=last).acts
    (refusal,) = plan_engine(edited_node(ours), "cgroupfs").refusals
    assert refusal.overrule is Overrule.UNPROVEN_CONFIG
    assert plan_engine(edited_node(ours + b"\n"), "cgroupfs", last=last).refusals


def test_an_edit_that_nobody_started_with_is_not_restored_over() -> None:
    """An engine took the write over long ago; what came into the file since is the doubt."""
    old = b'{"bip": "10.200.0.1/24", "exec-opts": ["native.cgroupdriver=cgroupfs"]}'
    new = b'{"bip": "10.200.0.1/24", "exec-opts": ["native.cgroupdriver=systemd"]}'
    made = restore.plan_restore(edited_node(new), written(old, new)).plan
    assert [refusal.overrule for refusal in made.refusals] == [Overrule.UNPROVEN_CONFIG]
    again = restore.plan_restore(edited_node(new), written(old, new, unproven=True)).plan
    assert again.refusals == ()
