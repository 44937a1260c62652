"""What the command prints of a run: drift first, then waivers; what is alike is told once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timezone

from pyinfra_nvml.audit.baseline import NOTHING_YET
from pyinfra_nvml.audit.run_record import Change, WaivedFinding
from pyinfra_nvml.drift.results_text import change_lines
from pyinfra_nvml.drift.summary import RunOutcome

RESULTS = datetime(2026, 3, 2, 4, 5, 6, tzinfo=timezone.utc)
ACCEPTED = datetime(2026, 3, 1, 4, 5, 6, tzinfo=timezone.utc)
WAIVED = WaivedFinding(
    "gpu-01",
    "engine-driver",
    "Docker engine",
    "gpu-team",
    "replaced in January",
    date(2027, 1, 31),
)


def told(*changes: Change, waived: Sequence[WaivedFinding] = ()) -> list[str]:
    whole = RunOutcome(0, "", changes=changes, waived=waived, results=RESULTS, accepted=ACCEPTED)
    return list(change_lines(whole))


def test_each_kind_of_change_in_its_words() -> None:
    assert told(
        Change("gpu-01", "new finding", "device-loss", "container x", None, "broken"),
        Change("gpu-02", "new finding", "device-loss", "container x", None, "broken"),
        Change("gpu-01", "gone finding", "driver-skew", "driver", "at risk", None),
        Change("gpu-01", "changed fact", None, "loaded driver", "550.90.07", "580.95.05"),
        Change("gpu-03", "no answer", None, "node", None, "timed out"),
        Change("gpu-04", "vanished", None, "node", "in the inventory", None),
        Change("gpu-05", "new node", None, "node", None, "in the inventory"),
    ) == [
        "drift since 2026-03-01T04:05:06+00:00: 7",
        "  gpu-[01-02] · new finding: container x: none -> broken  [device-loss]",
        "  gpu-01 · gone finding: driver: at risk -> none  [driver-skew]",
        "  gpu-01 · changed fact: loaded driver: 550.90.07 -> 580.95.05",
        "  gpu-04 · vanished",
        "  gpu-05 · new node",
        "  gpu-03 · no answer: timed out",
    ]


def test_many_reasons_for_no_answer_are_told_by_the_first() -> None:
    silent = [
        Change(f"gpu-{n:02}", "no answer", None, "node", None, f"no route to 192.0.2.{n}")
        for n in range(1, 41)
    ]
    assert told(*silent)[1:] == [
        "  gpu-01 · no answer: no route to 192.0.2.1",
        "  gpu-02 · no answer: no route to 192.0.2.2",
        "  gpu-03 · no answer: no route to 192.0.2.3",
        "  gpu-[04-40] · no answer: 37 more reasons, each in drift.json",
    ]


def test_nothing_changed_and_a_waiver() -> None:
    assert told(waived=(WAIVED,)) == [
        "drift since 2026-03-01T04:05:06+00:00: none",
        "waived: 1",
        "  gpu-01 · Docker engine, until 2027-01-31 by gpu-team: replaced in January"
        "  [engine-driver]",
    ]


def test_before_the_first_accepted_state() -> None:
    none = RunOutcome(0, "", results=RESULTS, why_no_changes=NOTHING_YET.why)
    assert list(change_lines(none)) == ["drift: nothing accepted yet, want --accept once"]
    assert list(change_lines(RunOutcome(2, "no run"))) == []


def test_why_no_drift_is_told_stands_there_once() -> None:
    assert list(change_lines(RunOutcome(1, "gpu-01", results=RESULTS, why_no_changes="saw a"))) == [
        "drift: saw a"
    ]
    assert list(change_lines(RunOutcome(2, "saw a", results=RESULTS, why_no_changes="saw a"))) == []


def test_of_a_run_without_an_audit_no_earlier_drift_is_told() -> None:
    assert (
        list(
            change_lines(RunOutcome(2, "no run", results=RESULTS, accepted=ACCEPTED, audited=False))
        )
        == []
    )
