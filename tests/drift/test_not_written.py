"""What a run could not write: told in a line, and never in place of what it found."""

from __future__ import annotations

from tests.drift.place import FLEET, Place

LEVEL = ("--level", "broken")


def test_an_audit_that_cannot_be_written_is_told_in_one_line(place: Place) -> None:
    code, said = place.run("--accept", *LEVEL, most=20)
    new = place.results / "new.json"
    told = f"could not write: report_json {new}: saw File too large, want a file to write; "
    assert (code, said.startswith(told), said.count("\n")) == (2, True, 1), said
    drift = place.drift()
    assert (drift["exit"], drift["audited"], drift["reason"]) == (2, False, said.strip())
    # Nothing is accepted whose audit nobody could look up.
    assert not (place.results / "accepted.json").exists()
    assert (place.results / "report.txt").read_text().count("verdict") == 1
    assert place.run("--accept", *LEVEL)[0] == 0


def test_a_state_that_cannot_be_accepted_takes_no_report(place: Place) -> None:
    (place.results / "accepted.json").mkdir(parents=True)
    code, said = place.run("--accept", *LEVEL)
    told = "accepted.json: saw Is a directory, want today's state accepted\n"
    assert (code, told in said, "verdict" in said) == (2, True, True), said
    assert place.drift()["audited"] and "Traceback" not in (place.results / "run.log").read_text()


def test_metrics_that_cannot_be_written_hide_no_finding(place: Place) -> None:
    (place.path / "a.prom").mkdir()
    words = ("--textfile", str(place.path / "a.prom"))
    told = f"textfile {place.path}/a.prom: saw Is a directory, want it written\n"
    code, said = place.run(*words)
    assert (code, told in said, "[device-exposure]" in said) == (1, True, True), said
    code, said = place.run(*words, *LEVEL)
    assert (code, said.endswith(f"\n{told}"), "verdict" in said) == (2, True, True), said
    assert (place.drift()["exit"], f"{place.drift()['reason']}\n") == (2, told)


def test_results_that_cannot_be_written_hide_no_finding(place: Place) -> None:
    drift = place.results / "drift.json"
    spoilt = (
        f"\nkept = Path({str(drift)!r})\nif kept.is_file():\n    kept.unlink()\n    kept.mkdir()\n"
    )
    (place.path / "fleet.py").write_text(FLEET + spoilt)
    code, said = place.run()
    told = f"{drift}: saw Is a directory, want it written\n"
    assert (code, told in said, "[device-exposure]" in said) == (1, True, True), said
