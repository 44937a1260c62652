"""The console command's runs: an overlap, a death in the middle, an end by limit or signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import jsonschema

from tests.drift.place import FLEET, ROOT, Place, until

SCHEMA = json.loads((ROOT / "docs" / "drift.schema.json").read_text())


def test_every_command_of_its_page_does_what_the_page_says(place: Place) -> None:
    page = (ROOT / "docs" / "drift.md").read_text()
    commands = page.partition("```sh\n")[2].partition("```")[0].splitlines()
    known = f"{place.words()[0]} -m pyinfra_nvml.drift"
    said = []
    for command in commands:
        typed = command.replace(".venv/bin/python -m pyinfra_nvml.drift", known)
        done = subprocess.run(
            ["sh", "-c", typed.replace("inventories/example.py", "fleet.py")],
            cwd=place.path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        # One of the two nodes is at risk.
        assert done.returncode == 1, done.stdout + done.stderr
        said.append(done.stdout)
    assert len(said) == 3
    assert "accepted: 2 of 2 nodes, in results/accepted.json" in said[0]
    assert [("drift since " in text, ": none\n" in text) for text in said] == [(True, True)] * 3


def test_two_runs_never_overlap_and_the_last_results_stay_while_one_goes_on(place: Place) -> None:
    assert place.run("--accept", "--level", "broken")[0] == 0
    before = (place.results / "audit.json").read_bytes()
    with place.running() as process:
        jsonschema.validate(place.drift(), SCHEMA, jsonschema.Draft202012Validator)
        code, said = place.run()
        assert (code, "another run" in said) == (2, True), said
        assert place.run("--last", "--level", "broken")[0] == 0
        assert (place.results / "audit.json").read_bytes() == before
        place.waits.unlink()
        assert process.wait(60) == 1
    drift = place.drift()
    jsonschema.validate(drift, SCHEMA, jsonschema.Draft202012Validator)
    assert drift["exit"] == 1 and drift["changes"] == [] and drift["ended"] >= drift["started"]
    assert drift["nodes"]["@fake/gpu_good"]["status"] == "ok"
    assert drift["nodes"]["@fake/trixie_exposed"]["level"] == "at risk"


def test_a_death_in_the_middle_leaves_the_last_results_marked_old(place: Place) -> None:
    assert place.run("--level", "broken")[0] == 0
    before = (place.results / "audit.json").read_bytes()
    with place.running() as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
        # pyinfra's own process ends with the one that waited for it, and lets go of the lock.
        until(lambda: "has not ended" in place.run("--last")[1])
        code, said = place.run("--last", "--level", "broken", "--exit-scheme", "nagios")
        assert (code, said.startswith("NVML UNKNOWN - the run of ")) == (3, True), said
        assert (place.results / "audit.json").read_bytes() == before
        assert place.drift()["nodes"]["@fake/gpu_good"]["status"] == "ok"
    assert place.run("--level", "broken")[0] == 0


def test_a_run_that_is_ended_says_so_and_leaves_the_last_results(place: Place) -> None:
    assert place.run("--level", "broken")[0] == 0
    before = (place.results / "audit.json").read_bytes()
    with place.running() as process:
        process.terminate()
        assert process.wait(30) == 2
    code, said = place.run("--last")
    assert (code, "told nothing new: stopped before the audit ended" in said) == (2, True), said
    place.waits.touch()
    code, said = place.run("--time-limit", "1")
    assert (code, "not done after 1 s" in said) == (2, True), said
    assert (place.results / "audit.json").read_bytes() == before
    assert place.drift()["exit"] == 2 and place.drift()["ended"]
    code, said = place.run("--last")
    assert (code, "told nothing new: not done after 1 s" in said) == (2, True), said


def test_a_run_in_a_checkout_looks_at_its_inventory_once_before_pyinfra_reads_it(
    place: Place,
) -> None:
    (place.path / "config.py").write_text((ROOT / "config.py").read_text())
    counts = "\nwith Path(__file__).with_name('read').open('a') as read:\n    read.write('.')\n"
    (place.path / "fleet.py").write_text(FLEET + counts)
    assert place.run("--level", "broken")[0] == 0
    assert (place.path / "read").read_text() == ".."
    code, said = place.run("--limit", "zork")
    told = "limit zork: saw no such host or group, want one of this inventory\n"
    assert (code, said) == (3, told)


GONE = """\
hosts = [(name, {"ssh_hostname": "127.0.0.1", "ssh_port": 9}) for name in ("gpu-01", "gpu-02")]
"""
"""Nothing listens on port 9 (discard, RFC 863)."""


def test_hosts_that_cannot_be_reached_are_told_though_no_deploy_code_runs(place: Place) -> None:
    (place.path / "gone.py").write_text(GONE)
    code, said = place.run("--accept", inventory="gone.py")
    assert code == 2, said
    assert "accepted: 0 of 2 nodes" in said
    assert "gpu-01: no answer and no earlier accepted state, nothing is accepted" in said
    jsonschema.validate(place.drift(), SCHEMA, jsonschema.Draft202012Validator)
    assert [change["kind"] for change in place.drift()["changes"]] == ["no answer"] * 2
    node = place.drift()["nodes"]["gpu-02"]
    summary = node.pop("summary")
    assert node == {"status": "unknown", "level": None, "reboot": None}
    assert summary.startswith("no answer: could not be connected to: Could not connect (")


def test_a_report_that_cannot_be_written_is_not_clean(place: Place) -> None:
    full = place.path / "full"
    full.touch()
    unmatched = {"check": "device-loss", "owner": "a", "reason": "b", "expires": "2999-12-31"}
    waivers = f"waivers={json.dumps([{**unmatched, 'hosts': ['gup-*']}])}"
    words = ("--level", "broken", "--data", waivers, "--data", f"report_html={full}/x.html")
    code, said = place.run(*words)
    told = f"report_html {full}/x.html: saw File exists, want a file to write\n"
    assert (code, said.endswith(f"could not write: {told}")) == (2, True), said
    assert said.count("waiver of device-loss by a: saw no host like gup-* in the inventory") == 1
    drift = place.drift()
    assert (drift["exit"], drift["audited"], len(drift["nodes"])) == (2, True, 2)
    # A finding is told first, and what could not be written in the report.
    code, said = place.run("--data", f"report_html={full}/x.html")
    assert (code, said.count(told), "could not write" in said) == (1, 1, False), said
