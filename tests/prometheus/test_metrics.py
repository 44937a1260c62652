"""The textfile: what Prometheus' own tools take, and what it says of a fleet."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pyinfra_nvml.reports.textfile import write_textfile
from tests.installed import program
from tests.prometheus.fleet import AT, NODES, REASON, audited, drifted, metrics

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def series(text: str) -> Series:
    """Every sample by its name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(text: str, name: str, **labels: str) -> float | None:
    return series(text).get((f"pyinfra_nvml_{name}", frozenset(labels.items())))


def statuses(text: str, node: str) -> dict[str, tuple[str, str]]:
    """Status and level of each check of a node."""
    labels = [dict(labels) for name, labels in series(text) if name == "pyinfra_nvml_check_status"]
    return {at["check"]: (at["status"], at["level"]) for at in labels if at["node"] == node}


FLEET = metrics(audited(*NODES), drifted())


def test_the_run_is_told_in_seconds() -> None:
    ended = datetime(2020, 11, 30, 12, 0, 9, tzinfo=timezone.utc).timestamp()
    assert value(FLEET, "audit_timestamp_seconds") == AT.timestamp()
    assert value(FLEET, "last_run_timestamp_seconds") == ended
    assert value(FLEET, "last_run_duration_seconds") == 9.25
    assert value(FLEET, "expected_interval_seconds") == 3600
    assert value(FLEET, "last_run_exit_code") == 1
    assert value(FLEET, "accepted_timestamp_seconds") is None


def test_a_run_by_hand_has_no_interval() -> None:
    text = metrics(audited(), drifted(interval=None, accepted="2020-11-29T00:00:00+00:00"))
    assert value(text, "expected_interval_seconds") is None
    assert value(text, "accepted_timestamp_seconds") == AT.timestamp() - 36 * 3600


def test_each_check_says_its_status_and_worst_level() -> None:
    assert statuses(FLEET, "bookworm_lost")["device-loss"] == ("found", "broken")
    assert statuses(FLEET, "bookworm_lost")["engine-driver"] == ("found", "at risk")
    assert statuses(FLEET, "gpu_good")["driver-skew"] == ("ok", "")
    assert statuses(FLEET, "gpu_wsl")["driver-skew"] == ("not applicable", "")
    assert statuses(FLEET, "trixie_no_root")["device-loss"] == ("unknown", "")
    assert value(FLEET, "findings", node="bookworm_lost", level="broken") == 2
    assert value(FLEET, "findings", node="gpu_good", level="broken") == 0


def test_a_node_that_did_not_answer_has_no_checks_and_no_verdict_of_old() -> None:
    told = {name for name, labels in series(FLEET) if ("node", "gpu-09") in labels}
    assert told == {"pyinfra_nvml_node_answered", "pyinfra_nvml_node_status"}
    assert value(FLEET, "node_answered", node="gpu-09") == 0
    assert value(FLEET, "node_answered", node="gpu_good") == 1
    assert value(FLEET, "node_status", node="gpu-09", status="unknown") == 1


def test_versions_are_named_or_said_to_be_none_or_unknown() -> None:
    skewed = {"loaded": "550.90.07", "installed": "550.107.02", "library": "550.107.02"}
    assert value(FLEET, "driver_info", node="gpu_skew", **skewed) == 1
    none = {"loaded": "none", "installed": "none", "library": "none"}
    assert value(FLEET, "driver_info", node="bookworm_lost", **none) == 1
    # WSL's library has no version in its name.
    assert value(FLEET, "driver_info", node="gpu_wsl", **{**none, "library": "unknown"}) == 1
    engine = {"version": "20.10.24+dfsg1", "cgroup_driver": "systemd", "hierarchy": "v2"}
    assert value(FLEET, "engine_info", node="bookworm_lost", **engine) == 1
    unknown = {"version": "unknown", "cgroup_driver": "unknown", "hierarchy": "v2"}
    assert value(FLEET, "engine_info", node="gpu_hung", **unknown) == 1


def test_a_reboot_is_wanted_with_a_reason_or_not_or_unknown() -> None:
    assert value(FLEET, "reboot_required", node="gpu_skew", reason=REASON) == 1
    assert value(FLEET, "reboot_required", node="gpu_good", reason="") == 0
    said = audited("gpu_good")
    for check in said["nodes"][0]["checks"]:
        if check["check"] == "driver-skew":
            check.update(status="unknown", doubts=[{"subject": "driver", "reason": "timed out"}])
    assert "reboot_required" not in metrics(said, drifted())


def waived(*waivers: dict[str, str]) -> dict[str, Any]:
    """The fleet's audit with these findings waived."""
    said = audited(*NODES)
    for waiver in waivers:
        (node,) = [node for node in said["nodes"] if node["node"] == waiver["node"]]
        (check,) = [check for check in node["checks"] if check["check"] == waiver["check"]]
        for finding in check["findings"]:
            if finding["subject"] == waiver["subject"]:
                kept = {key: waiver[key] for key in ("owner", "reason", "expires")}
                finding["waiver"] = {**kept, "expired": False}
    return said


def test_what_is_waived_does_not_count_and_is_told_apart() -> None:
    waiver = {"node": "bookworm_lost", "check": "device-loss", "owner": "kim", "reason": "x"}
    trainer = {**waiver, "subject": "container trainer", "expires": "2021-01-31"}
    notebook = {**waiver, "subject": "container notebook", "expires": "2021-02-27"}
    one = metrics(waived(trainer), drifted(waived=[trainer]))
    assert statuses(one, "bookworm_lost")["device-loss"] == ("found", "broken")
    assert value(one, "findings", node="bookworm_lost", level="broken") == 1
    both = metrics(waived(trainer, notebook), drifted(waived=[trainer, notebook]))
    assert statuses(both, "bookworm_lost")["device-loss"] == ("waived", "")
    assert value(both, "findings", node="bookworm_lost", level="broken") == 0
    assert value(both, "waived_findings", node="bookworm_lost") == 2
    assert value(both, "waived_findings", node="gpu_good") == 0
    labels = {"node": "bookworm_lost", "check": "device-loss", "owner": "kim"}
    counts_again = datetime(2021, 2, 1, tzinfo=timezone.utc).timestamp()
    name = "waiver_expiry_timestamp_seconds"
    assert value(both, name, subject="container trainer", **labels) == counts_again
    over = {**trainer, "expires": "2020-11-29"}
    assert statuses(metrics(waived(over), drifted()), "bookworm_lost")["device-loss"][0] == "found"


def change(node: str, kind: str) -> dict[str, Any]:
    return {"node": node, "kind": kind, "check": None, "subject": "node"}


def test_changes_are_counted_by_node_and_kind() -> None:
    changes = [change("gpu_good", "new finding")] * 2 + [change("x", "vanished")]
    text = metrics(audited(), drifted(changes=changes))
    assert value(text, "changes", node="gpu_good", kind="new finding") == 2
    assert value(text, "changes", node="x", kind="vanished") == 1
    assert value(FLEET, "changes", node="gpu_good", kind="new finding") is None


ODD = 'say "no"\\\n\r\x00 {a="b"} 1 é \ud83d'


def odd() -> str:
    """The file of a fleet whose node is named, and says, what nobody should."""
    said = audited("gpu_skew")
    said["nodes"][0]["node"] = ODD
    said["nodes"].append(said["nodes"][0])
    said["nodes"][0]["facts"]["docker_engine"]["info"]["server_version"] = ODD * 30
    states = {ODD: {"status": "found", "reboot": ODD}}
    return metrics(said, drifted(nodes=states, changes=[change(ODD, "new node")]))


def test_what_a_node_said_stays_within_its_label() -> None:
    kept = ODD.replace("\ud83d", "\\ud83d")
    assert value(odd(), "reboot_required", node=kept, reason=kept) == 1
    # The parser of prometheus-client and the writer agree; promtool is asked below.
    assert len([line for line in odd().splitlines() if "reboot_required{" in line]) == 1


@pytest.mark.parametrize("text", [FLEET, odd(), metrics(None, {})], ids=["fleet", "odd", "none"])
def test_promtool_has_nothing_to_say_against_it(text: str) -> None:
    done = subprocess.run(
        [program("promtool"), "check", "metrics"], input=text.encode(), capture_output=True
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")


def test_a_node_costs_ten_series_and_one_for_each_check() -> None:
    told = [labels for _, labels in series(FLEET) if ("node", "gpu_good") in labels]
    checks = len(audited("gpu_good")["nodes"][0]["checks"])
    assert len(told) == 10 + checks


def test_a_machine_that_audits_itself_is_shown_by_its_name() -> None:
    said = audited("gpu_skew")
    said["nodes"][0]["node"] = "@local"
    waived = {"node": "@local", "check": "driver-skew", "subject": "driver", "owner": "kim"}
    waived["reason"] = "x"
    drift = drifted(
        nodes={"@local": {"status": "found", "reboot": REASON}},
        changes=[change("@local", "new finding")],
        waived=[{**waived, "expires": "2021-01-31"}],
    )
    text = metrics(said, drift, host="gpu-77")
    assert "@local" not in text
    assert value(text, "node_answered", node="gpu-77") == 1
    assert value(text, "reboot_required", node="gpu-77", reason=REASON) == 1
    assert value(text, "changes", node="gpu-77", kind="new finding") == 1
    assert f'node="{platform.node()}"' in metrics(said, drift)


def test_it_is_put_in_place_at_once_for_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "nvml.prom"
    path.write_text("old")
    before = path.stat().st_ino
    old_mask = os.umask(0o077)
    try:
        write_textfile(path, FLEET)
    finally:
        os.umask(old_mask)
    assert path.read_text() == FLEET
    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == 0o644
    assert [place.name for place in tmp_path.iterdir()] == ["nvml.prom"]


def test_a_path_that_no_exporter_reads_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"saw the name nvml\.txt, want one ending in \.prom"):
        write_textfile(tmp_path / "nvml.txt", FLEET)
    with pytest.raises(ValueError, match="saw no directory"):
        write_textfile(tmp_path / "not there" / "nvml.prom", FLEET)
    assert list(tmp_path.iterdir()) == []
