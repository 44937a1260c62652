"""A kept audit and a kept run, read back: whole, or with the place of the first damage."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from typing import Any

import pytest

from pyinfra_nvml.audit.document import Run, record_audit
from pyinfra_nvml.audit.json_file import Unreadable
from pyinfra_nvml.audit.record import parse_audit
from pyinfra_nvml.audit.run_record import parse_run
from pyinfra_nvml.audit.verdict import unreached, verdict
from pyinfra_nvml.settings.waivers import Waiver
from tests import recordings

AT = datetime(2026, 1, 2, tzinfo=timezone.utc)
DAY = AT.date()
WAIVED = (Waiver("device-exposure", "kim", "replaced", date(2026, 1, 31)),)
VERDICTS = [
    verdict("gpu-01", recordings.node("trixie_exposed"), 1, waived=WAIVED, day=DAY),
    verdict("gpu-02", recordings.node("trixie_no_root"), 1),
    unreached("gpu-09", "could not be connected to"),
]
RUN = Run(
    {"gpu-01": ("restart",)}, {"gpu-02": "canary"}, frozenset(("gpu-01",)), {"gpu-01": "none"}
)


def content() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(record_audit(VERDICTS, AT, RUN).to_json()))
    return read


def test_what_is_read_back_is_what_was_kept_and_judges_the_same() -> None:
    kept = parse_audit(content(), "audit.json")
    assert json.dumps(kept.to_json()) == json.dumps(content())
    for before, after in zip(VERDICTS, kept.nodes, strict=True):
        assert [(r.check, r.status) for r in after.results] == [
            (r.check, r.status) for r in before.results
        ]
        assert (after.summary, after.word, after.worst) == (
            before.summary,
            before.word,
            before.worst,
        )
    assert kept.nodes[0].waived and not kept.nodes[0].on(date(2026, 2, 1)).waived


def test_a_document_from_before_some_keys_is_read() -> None:
    said = content()
    for node in said["nodes"]:
        for key in ("asked", "reboot", "plan", "not_touched", "stale"):
            del node[key]
        for check in node["checks"]:
            for finding in check["findings"]:
                finding.pop("waiver")
    said["nodes"][0]["a later key"] = 1
    del said["limited"]
    assert parse_audit(said, "audit.json").nodes[0].asked is None


DAMAGED: list[tuple[tuple[str | int, ...], object, str]] = [
    (("time",), "soon", "saw 'soon' as time, want Invalid isoformat string"),
    (("time",), 7, "saw 7 as time, want a text in ISO 8601, not int"),
    (("nodes",), {"gpu-01": 1}, "as nodes, want a valid tuple"),
    (("nodes", 1), 7, "saw 7 as nodes[1], want an object"),
    (("nodes", 0, "node"), None, "saw None as nodes[0].node, want a valid string"),
    (("nodes", 0, "checks", 2, "status"), "fine", "saw 'fine' as nodes[0].checks[2].status, want "),
    (("nodes", 0, "execs"), "x" * 99, f"saw '{'x' * 59}... as nodes[0].execs, want"),
]


@pytest.mark.parametrize(("place", "value", "told"), DAMAGED)
def test_damage_is_told_by_its_place(
    place: tuple[str | int, ...], value: object, told: str
) -> None:
    said: Any = content()
    inner = said
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(Unreadable) as refusal:
        parse_audit(said, "audit.json")
    assert str(refusal.value).startswith("audit.json: saw ") and told in str(refusal.value)


def test_a_waiver_without_a_day_is_damage() -> None:
    said = content()
    (finding, *_) = [f for c in said["nodes"][0]["checks"] for f in c["findings"] if f["waiver"]]
    finding["waiver"]["expires"] = "soon"
    with pytest.raises(Unreadable, match=r"nodes\[0\]\.checks, want Invalid isoformat string"):
        parse_audit(said, "audit.json")


@pytest.mark.parametrize("interval", ["600", 0, -1, 1e300, float("nan"), float("inf"), True])
def test_an_interval_that_none_could_be_is_damage(interval: object) -> None:
    with pytest.raises(Unreadable, match="as interval, want"):
        parse_run({"interval": interval}, "drift.json")
    assert parse_run({"interval": 600}, "drift.json").interval == 600
