"""The results of earlier runs: too old, another inventory's, damaged, of another version."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from pyinfra_nvml.drift.results import Results, stale_reason
from tests.drift.place import FLEET, ROOT, Place

DRIFT = {
    "version": 1,
    "started": "2026-01-02T03:04:05+00:00",
    "ended": "2026-01-02T03:04:07+00:00",
    "exit": 0,
    "audited": True,
}


def test_results_grow_old(place: Place) -> None:
    code, said = place.run("--last")
    assert (code, "saw no run yet, want one: run once without --last" in said) == (2, True), said
    assert place.run("--interval", "600", "--level", "broken")[0] == 0
    hour_ago = datetime.now(timezone.utc) - timedelta(hours=1)
    drift = place.drift()
    stamps = dict.fromkeys(("started", "ended", "results"), hour_ago.isoformat(timespec="seconds"))
    (place.results / "drift.json").write_text(json.dumps({**drift, **stamps}))
    assert place.run("--last", "--level", "broken")[0] == 2
    assert place.run("--last", "--level", "broken", "--interval", "3600")[0] == 0
    assert place.run("--last", "--level", "broken", "--limit", "*good")[0] == 2
    later = (hour_ago + timedelta(hours=2)).isoformat(timespec="seconds")
    (place.results / "drift.json").write_text(json.dumps({**drift, "results": later}))
    code, said = place.run("--last", "--level", "broken")
    assert (code, "from now, want the clock of their time" in said) == (2, True), said
    assert place.run("--last", "--limit", "zork")[0] == 3


def test_a_run_that_goes_on_makes_no_results_of_one_that_gave_none(tmp_path: Path) -> None:
    results, now = Results(tmp_path), datetime.now(timezone.utc)
    (tmp_path / "drift.json").write_text(json.dumps({**DRIFT, "results": now.isoformat()}))
    results.begin(now)
    assert stale_reason(results.last(), True, None, now) is None
    # It died, and the next one begins.
    first = now.isoformat(timespec="seconds")
    died = f"the run of {first} has not ended: what stands here is from before"
    assert stale_reason(results.last(), False, None, now) == died
    results.begin(now + timedelta(seconds=9))
    assert stale_reason(results.last(), True, None, now) == f"the last run told nothing new: {died}"
    assert results.last().exit == 2
    # One that ended without an audit, and the next one begins.
    (tmp_path / "drift.json").write_text(
        json.dumps({**DRIFT, "results": first, "audited": False, "reason": "out of time"})
    )
    results.begin(now)
    assert (
        stale_reason(results.last(), True, None, now)
        == "the last run told nothing new: out of time"
    )


def test_a_run_by_hand_leaves_the_interval_of_the_timer(place: Place) -> None:
    assert place.run("--level", "broken", "--interval", "600")[0] == 0
    metrics = place.path / "a.prom"
    assert place.run("--level", "broken", "--textfile", str(metrics))[0] == 0
    assert place.drift()["interval"] == 600
    assert "\npyinfra_nvml_expected_interval_seconds 600.0\n" in metrics.read_text()
    for damaged in ("600", 1e300):
        (place.results / "drift.json").write_text(json.dumps({**DRIFT, "interval": damaged}))
        assert place.run("--level", "broken")[0] == 0
        assert place.drift()["interval"] is None


def test_the_last_results_of_another_inventory_are_not_judged(place: Place) -> None:
    (place.path / "other.py").write_text(FLEET)
    assert place.run("--level", "broken")[0] == 0
    own, level = str(place.path / "fleet.py"), ("--level", "broken")
    assert place.drift()["inventory"] == own
    for same in (own, f"../{place.path.name}/fleet.py"):
        assert place.run("--last", *level, inventory=same)[0] == 0
    for other, named in (
        ("fleat.py", place.path / "fleat.py"),
        ("other.py", place.path / "other.py"),
        ("@local", "@local"),
        ("gpu-01,gpu-02", "gpu-01,gpu-02"),
    ):
        code, said = place.run("--last", *level, inventory=other)
        told = f"the last results are of {own}, want those of {named}: name that one, or"
        assert (code, told in said) == (2, True), said
    # A run that gives no audit leaves the results those of the inventory before.
    assert place.run(*level, inventory="none.py")[0] == 3
    assert place.drift()["inventory"] == own
    drift = {key: value for key, value in place.drift().items() if key != "inventory"}
    (place.results / "drift.json").write_text(json.dumps({**drift, "audited": True}))
    assert place.run("--last", *level, inventory="other.py")[0] == 0


def test_a_damaged_accepted_state_is_told_and_hides_no_finding(place: Place) -> None:
    place.results.mkdir()
    (place.results / "accepted.json").write_text("{")
    told = "accepted.json: saw Expecting property name"
    for last in ((), ("--last",)):
        code, said = place.run("--level", "broken", *last)
        assert (code, said.count(told), "yet" in said) == (2, 1, False), said
        code, said = place.run(*last)
        assert (code, f"drift: {place.results}/{told}" in said) == (1, True), said
        assert said.splitlines()[-1].endswith("[engine-driver]; 2 more"), said
    assert place.drift()["ended"] and place.drift()["nodes"]["@fake/gpu_good"]["status"] == "ok"
    (place.results / "accepted.json").write_text('{"version": 1, "time": "2026-01-02T00:00:00"}')
    code, said = place.run("--last", "--level", "broken")
    assert (code, "accepted.json: saw no 'nodes' in it" in said) == (2, True), said
    assert place.run("--level", "broken", "--accept")[0] == 0


def test_an_audit_that_is_gone_or_says_nothing_is_told_by_its_file(place: Place) -> None:
    assert place.run("--level", "broken", "--accept")[0] == 0
    audit, accepted = place.results / "audit.json", place.results / "accepted.json"
    whole = json.loads(audit.read_text())
    nodes = [{**node, "checks": []} for node in whole["nodes"]]
    audit.write_text(json.dumps({**whole, "nodes": nodes}))
    code, said = place.run("--last", "--level", "broken")
    assert (code, "unknown: saw no check of this node, want each" in said) == (2, True), said
    audit.write_text('{"version": 1, "nodes": []}')
    told = "audit.json: saw no 'time' in it, want what this program writes: run once without"
    assert told in place.run("--last")[1]
    audit.write_text('{"version": 1, "time": "2026-01-01T00:00:00+00:00", "nodes": [7]}')
    told = "audit.json: saw 7 as nodes[0], want an object: run once without --last"
    assert told in place.run("--last")[1]
    audit.unlink()
    code, said = place.run("--last", "--level", "broken")
    assert (code, "audit.json: saw No such file" in said) == (2, True), said
    audit.write_text(json.dumps(whole))
    accepted.write_text('{"version": 1}')
    code, said = place.run("--last", "--level", "broken")
    told = (
        "accepted.json: saw no 'time' in it, want what this program writes: run once with --accept"
    )
    assert (code, told in said) == (2, True), said


@pytest.mark.parametrize(("name", "do"), [
    ("audit.json", "run once without --last"),
    ("drift.json", "run once without --last"),
    ("accepted.json", "run once with --accept"),
])  # fmt: skip
def test_results_of_another_version_are_unknown_until_they_are_written_again(
    place: Place, name: str, do: str
) -> None:
    assert place.run("--level", "broken", "--accept")[0] == 0
    file = place.results / name
    whole = json.loads(file.read_text())
    for saw, content in (("version 2", {**whole, "version": 2}), ("no version", _less(whole))):
        file.write_text(json.dumps(content))
        code, said = place.run("--last", "--level", "broken")
        told = f"results/{name}: saw {saw}, want 1, the one that this program reads: {do}"
        assert (code, told in said) == (2, True), said
    again = ["--accept"] if name == "accepted.json" else []
    assert place.run("--level", "broken", *again)[0] == 0
    assert place.run("--last", "--level", "broken")[0] == 0


def _less(whole: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in whole.items() if key != "version"}


@pytest.mark.parametrize("name", ["audit.json", "accepted.json", "drift.json"])
@pytest.mark.parametrize("content", ["", "[]", '{"version": 1, "nodes": [{}]}',
    '{"version": 1, "nodes": 1, "results": 2}',
    '{"version": 1, "results": "NOW", "ended": "NOW", "interval": 1e300}'])  # fmt: skip
def test_damaged_results_are_unknown(place: Place, name: str, content: str) -> None:
    results = place.results
    results.mkdir()
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    content = content.replace("NOW", now)
    for made in ("audit.json", "accepted.json"):
        (results / made).write_text(
            '{"version": 1, "time": "2026-01-01T00:00:00+00:00", "nodes": []}'
        )
    (results / "drift.json").write_text('{"version": 1, "results": null}')
    (results / name).write_text(content)
    code, said = place.run("--last", "--exit-scheme", "npd")
    assert code == 2, said


def test_a_run_that_fails_over_a_damaged_audit_has_ended_and_says_so(place: Place) -> None:
    place.results.mkdir()
    nodes = '{"version": 1, "time": "2026-01-01T00:00:00+00:00", "nodes": [7]}'
    (place.results / "audit.json").write_text(nodes)
    metrics = place.path / "nvml.prom"
    (place.path / "fleet.py").rename(place.path / "kept.py")
    (place.path / "fleet.py").write_text("hosts = 7 / 0\n")
    code, said = place.run("--textfile", str(metrics))
    assert (code, "ZeroDivisionError" in said) == (3, True), said
    drift = place.drift()
    assert drift["ended"] and drift["results"] is None and not drift["audited"]
    assert "ZeroDivisionError" in drift["reason"]
    assert metrics.exists()
    code, said = place.run("--last")
    assert (code, "audit.json: saw " in said, "run once without --last" in said) == (2, True, True)
    (place.path / "kept.py").rename(place.path / "fleet.py")
    assert place.run("--level", "broken")[0] == 0
    assert place.run("--last", "--level", "broken")[0] == 0


def test_what_was_accepted_of_another_inventory_is_told_and_may_be_replaced(place: Place) -> None:
    level = ("--level", "broken")
    assert place.run(*level, "--accept")[0] == 0
    accepted = place.results / "accepted.json"
    own = str(place.path / "fleet.py")
    assert json.loads(accepted.read_text())["inventory"] == own
    other = (place.path / "fleet.py").read_text().replace("@fake/gpu_good", "@fake/forky_cgroupfs")
    (place.path / "other.py").write_text(other)
    want = (
        f"drift: {accepted} is the state of {own}, nothing accepted yet of"
        f" {place.path / 'other.py'}: `{sys.executable} -m pyinfra_nvml.drift other.py --results"
        f" {place.results} --accept` does, in its place\n"
    )
    for last in ((), ("--last",)):
        code, said = place.run(*level, *last, inventory="other.py")
        assert (code, said.count("drift:"), "vanished" in said) == (0, 1, False), said
        assert want in said, said
    assert json.loads(accepted.read_text())["inventory"] == own
    # A part of the other inventory: nothing of the first stays among it.
    code, said = place.run(
        *level, "--accept", "--limit", "@fake/trixie_exposed", inventory="other.py"
    )
    assert (code, f"saw the state of {own}; that of" in said) == (0, True), said
    kept = json.loads(accepted.read_text())
    assert [node["node"] for node in kept["nodes"]] == ["@fake/trixie_exposed"]
    assert place.run(*level, inventory="other.py")[0] == 0


def test_a_state_that_names_no_inventory_is_taken(place: Place) -> None:
    assert place.run("--level", "broken", "--accept")[0] == 0
    accepted = place.results / "accepted.json"
    whole = json.loads(accepted.read_text())
    accepted.write_text(json.dumps({k: v for k, v in whole.items() if k != "inventory"}))
    assert place.run("--level", "broken")[0] == 0


def test_plain_pyinfra_names_the_inventory_that_it_accepts(place: Place) -> None:
    done = subprocess.run(
        [
            Path(sys.executable).with_name("pyinfra"),
            *("inventories/recorded.py", "deploys/audit.py", "--dry", "-y"),
            "--limit=@fake/gpu_good",
            "--data=accept=true",
            f"--data=report_json={place.path}/audit.json",
            f"--data=report_html={place.path}/audit.html",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    kept = json.loads((place.path / "accepted.json").read_text())
    assert kept["inventory"] == str(ROOT / "inventories" / "recorded.py")
