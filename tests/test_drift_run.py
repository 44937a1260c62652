"""The console command: refusals, overlap, a death in the middle, an end by limit or signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from audit.drift.command_line import options

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((ROOT / "docs" / "drift.schema.json").read_text())

FLEET = f"""\
import sys
import time
from pathlib import Path
sys.path.append({str(ROOT)!r})
from inventories.recorded import hosts as _every
hosts = [host for host in _every if host[0] in ("@fake/gpu_good", "@fake/trixie_exposed")]
while Path(__file__).with_name("wait").exists():
    Path(__file__).with_name("reached").touch()
    time.sleep(0.02)
"""
"""Two recorded nodes, and a run that goes on as long as a file is there."""


@dataclass(frozen=True)
class Place:
    """An operator's directory with an inventory, and the results beside it."""

    path: Path

    @property
    def results(self) -> Path:
        return self.path / "results"

    @property
    def waits(self) -> Path:
        return self.path / "wait"

    def words(self, *more: str, inventory: str = "fleet.py") -> list[str]:
        command = [sys.executable, "-m", "audit", inventory, "--results", str(self.results)]
        return [*command, *more]

    def run(self, *more: str, inventory: str = "fleet.py") -> tuple[int, str]:
        done = subprocess.run(
            self.words(*more, inventory=inventory),
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done.returncode, done.stdout

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        """A run in its middle: it has marked its start and loads its inventory."""
        self.waits.touch()
        reached = self.path / "reached"
        reached.unlink(missing_ok=True)
        process = subprocess.Popen(
            self.words(),
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            until(reached.exists)
            assert self.drift()["ended"] is None
            yield process
        finally:
            self.waits.unlink(missing_ok=True)
            process.kill()
            process.communicate(timeout=30)

    def drift(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.results / "drift.json").read_text())
        return read


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "fleet.py").write_text(FLEET)
    return Place(tmp_path)


def test_every_command_of_its_page_does_what_the_page_says(place: Place) -> None:
    page = (ROOT / "docs" / "drift.md").read_text()
    commands = page.partition("```sh\n")[2].partition("```")[0].splitlines()
    known = f"{place.words()[0]} -m audit"
    said = []
    for command in commands:
        typed = command.replace(".venv/bin/python -m audit", known)
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
    assert "accepted: 2 of 2 nodes, in reports/accepted.json" in said[0]
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


REFUSED = [
    (["--data", "audit_levl=none", "--limit", "zork"], "fleet.py", [
        "knob audit_levl: saw no such knob, want audit_level\n",
        "limit zork: saw no such host or group, want one of this inventory\n",
    ]),
    (["--data", "batch_size=none"], "fleet.py", [
        "knob batch_size: saw 'none', want a number from 1\n"
    ]),
    (["--data", "report_junit=."], "fleet.py", [
        "knob report_junit: saw '.', a directory, want a file in it\n"
    ]),
    (["--data", "report_junit=a.x", "--data", "report_json=./a.x"], "fleet.py", [
        "knobs report_json, report_junit: saw 'a.x' in both, want two files\n"
    ]),
    (["--data", 'waivers=[{"check": "zork"}, 7]'], "fleet.py", [
        "knob waivers: item 1, owner: saw nothing, want words\n",
        "knob waivers: item 2: saw 7, want an object with check, ",
    ]),
    (["--data", "_timeout=abc"], "fleet.py", ["knob _timeout: saw 'abc', want seconds from 1\n"]),
    (["--data", "_timeout=-1"], "fleet.py", ["knob _timeout: saw -1, want seconds from 1\n"]),
    ([], "none.py", ["inventory none.py: saw no such file or host, want a file, @local or"]),
    ([], "empty.py", ["inventory empty.py: saw no hosts in it, want a list of hosts\n"]),
    ([], "words.py", ["inventory words.py, line 1: saw invalid syntax, want Python\n"]),
    ([], ".", ["inventory .: saw Is a directory, want hosts\n"]),
    ([], "own.py", ["knob waivers: saw 7, want a list of waivers (gpu-02 and 1 more)\n"]),
    ([], "refuses.py", ["inventory refuses.py: hosts.ini:3: saw 'b', want KEY=VALUE\n"]),
    ([], "fails.py", ["inventory fails.py: saw KeyError: 'HOSTS', want hosts\n"]),
]  # fmt: skip
OTHERS = {
    "empty.py": "hosts = []\n",
    "words.py": "gpu one\n",
    "own.py": "own = {'waivers': 7}\nhosts = ['gpu-01', ('gpu-02', own), ('gpu-03', own)]\n",
    "refuses.py": "from pyinfra.api.exceptions import InventoryError\n"
    "raise InventoryError(\"hosts.ini:3: saw 'b', want KEY=VALUE\")\n",
    "fails.py": "hosts = {}['HOSTS']",
}


@pytest.mark.parametrize(("more", "inventory", "told"), REFUSED)
def test_what_cannot_be_meant_is_refused(
    place: Place, more: list[str], inventory: str, told: list[str]
) -> None:
    for name, text in OTHERS.items():
        (place.path / name).write_text(text)
    code, said = place.run(*more, inventory=inventory)
    assert (code, [words for words in told if words not in said]) == (3, []), said
    assert not (place.results / "audit.json").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--data", "batch_size"], "--data: saw 'batch_size', want KNOB=VALUE"),
        (["--level", "bad"], "saw 'bad', want one of broken, at risk, advice, none"),
        (["--results", ""], "--results: saw '', want a directory"),
        (["--last", "--accept"], "--last --accept: saw both, want one"),
        (["--last", "--data", "audit_level=none"], "--last --data: saw both, want one"),
        (["--interval", "0"], "saw '0', want a number of seconds"),
        (["--interval", "1e300"], "saw '1e300', want a number of seconds up to 100000000"),
        (["--time-limit", "nan"], "saw 'nan', want a number of seconds"),
        (["--textfile", "/nowhere/x.prom"], "--textfile: saw /nowhere/x.prom, want"),
        (["--exit-scheme", "sensu"], "saw 'sensu', want one of plain, nagios, npd"),
        (["--exit-scheme"], "expected one argument"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        options(["fleet.py", *words])
    assert ended.value.code == 3
    assert told in capsys.readouterr().out


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


@pytest.mark.parametrize(("scheme", "code"), [("npd", 2), ("nagios", 3), ("plain", 3)])
def test_a_usage_error_ends_as_the_scheme_says(scheme: str, code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        options(["fleet.py", "--zork", f"--exit-scheme={scheme}"])
    assert ended.value.code == code


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


def test_a_damaged_accepted_state_is_told_and_another_may_take_its_place(place: Place) -> None:
    place.results.mkdir()
    (place.results / "accepted.json").write_text("{")
    code, said = place.run("--level", "broken")
    assert (code, "accepted.json: saw Expecting property name" in said) == (2, True), said
    assert place.drift()["ended"] and place.drift()["nodes"]["@fake/gpu_good"]["status"] == "ok"
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
    assert "audit.json: saw a value of another kind (" in place.run("--last")[1]
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
