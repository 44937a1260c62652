"""Waivers: what an inventory may say, what a waived finding counts for, and until when."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path

import jsonschema
import pytest

from pyinfra_nvml.audit.applied_waivers import unmatched_waivers
from pyinfra_nvml.audit.baseline import Baseline
from pyinfra_nvml.audit.document import record_audit
from pyinfra_nvml.audit.record import RecordedAudit, parse_audit
from pyinfra_nvml.audit.standing import exit_code, standings
from pyinfra_nvml.audit.verdict import Verdict, verdict
from pyinfra_nvml.drift.changes import changes
from pyinfra_nvml.drift.summary import judge_run
from pyinfra_nvml.model.finding import Level, Status
from pyinfra_nvml.reports.junit import junit
from pyinfra_nvml.reports.markdown import markdown
from pyinfra_nvml.reports.page import page
from pyinfra_nvml.settings.waivers import Waiver, waivers
from tests import recordings
from tests.fleet import printed

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "drift.schema.json").read_text())
CHECKS = ("device-exposure", "device-loss", "engine-driver")
UNTIL = date(2027, 1, 31)
GOOD: dict[str, object] = {
    "check": "engine-driver",
    "owner": "gpu-team",
    "reason": "replaced in January",
    "expires": "2027-01-31",
}
EVERY = tuple(Waiver(check, "gpu-team", "replaced in January", UNTIL) for check in CHECKS)
AT = datetime(2027, 1, 31, 12, tzinfo=timezone.utc)

REFUSED: list[tuple[object, str]] = [
    ("engine-driver", "is 'engine-driver'; expected a list of waivers"),
    (["engine-driver"], "item 1 is 'engine-driver'; expected an object with check, owner,"),
    (
        [GOOD, {**GOOD, "check": "engine-drivr"}],
        "item 2 is 'engine-drivr': did you mean engine-driver?",
    ),
    ([{**GOOD, "check": "zork"}], "expected one of device-exposure, device-loss, engine-driver"),
    ([{**GOOD, "check": ["engine-driver"]}], "check of item 1 is ['engine-driver']; expected text"),
    ([{**GOOD, "owner": " "}], "owner of item 1 is ' '; expected text"),
    (
        [{k: v for k, v in GOOD.items() if k != "owner"}],
        "owner of item 1 is missing; expected text",
    ),
    ([{**GOOD, "reason": None}], "reason of item 1 is missing; expected text"),
    ([{**GOOD, "expires": "soon"}], "expires of item 1 is 'soon'; expected a date like 2027-01-31"),
    ([{**GOOD, "expires": "2027-02-30"}], "expires of item 1 is '2027-02-30'; expected a date"),
    ([{**GOOD, "expires": 20270131}], "expires of item 1 is 20270131; expected a date"),
    ([{**GOOD, "expires": "20270131"}], "expires of item 1 is '20270131'; expected a date"),
    ([{k: v for k, v in GOOD.items() if k != "expires"}], "expires of item 1 is missing"),
    ([{**GOOD, "host": "gpu-01"}], "item 1 has the unknown key host: did you mean hosts?"),
    ([{**GOOD, "hosts": []}], "hosts of item 1 is []; expected names or patterns of hosts"),
    ([{**GOOD, "hosts": [1]}], "hosts of item 1 is 1; expected text"),
    (
        [{**GOOD, "subject": "container x"}],
        "item 1 has the unknown key subject: did you mean subjects?",
    ),
    (
        [{**GOOD, "containers": ["x"]}],
        "item 1 has the unknown key containers; expected one of check,",
    ),
    (
        [{**GOOD, "subjects": []}],
        "subjects of item 1 is []; expected names or patterns of subjects",
    ),
    (
        [{**GOOD, "subjects": {"x": 1}}],
        "subjects of item 1 is {'x': 1}; expected names or patterns",
    ),
    ([{**GOOD, "subjects": ["container x", " "]}], "subjects of item 1 is ' '; expected text"),
]


@pytest.mark.parametrize(("value", "told"), REFUSED)
def test_a_waiver_that_makes_no_sense_is_refused_by_item_and_key(value: object, told: str) -> None:
    with pytest.raises(ValueError) as refusal:
        waivers(value, CHECKS)
    assert told in str(refusal.value)


def test_every_wrong_one_is_told_at_once() -> None:
    wrong = [{**GOOD, "expires": "soon"}, GOOD, {**GOOD, "hosts": []}]
    with pytest.raises(ValueError) as refusal:
        waivers(wrong, CHECKS)
    told = [
        line.removeprefix("setting waivers: ").partition(" is ")[0]
        for line in str(refusal.value).splitlines()
    ]
    assert told == ["expires of item 1", "hosts of item 3"]


def test_one_that_is_about_no_host_is_told_once() -> None:
    here, gone = ({**GOOD, "hosts": hosts} for hosts in (["cpu-*", "gpu-0*"], ["gup-*", "x"]))
    meant = waivers([GOOD, here, gone], CHECKS)
    assert [*unmatched_waivers([*meant, *meant], ["gpu-01", "gpu-02"])] == [
        "waiver of engine-driver by gpu-team: saw no host like gup-*, x in the inventory,"
        " want one of its names or a pattern of some"
    ]


@pytest.mark.parametrize("expires", ["2027-01-31", UNTIL, AT])
def test_a_day_may_be_written_or_be_a_date(expires: object) -> None:
    (one,) = waivers([{**GOOD, "expires": expires, "hosts": "gpu-0*"}], CHECKS)
    assert one == Waiver("engine-driver", "gpu-team", "replaced in January", UNTIL, ("gpu-0*",))
    assert one.on("gpu-07") and not one.on("cpu-07")
    assert waivers(None, CHECKS) == ()


def exposed(given: tuple[Waiver, ...], day: date) -> Verdict:
    return verdict("gpu-01", recordings.node("trixie_exposed"), waived=given, day=day)


def read(*verdicts: Verdict) -> RecordedAudit:
    return parse_audit(json.loads(json.dumps(record_audit(verdicts, AT).to_json())), "audit.json")


def test_it_holds_through_its_day_and_not_after() -> None:
    held, over = exposed(EVERY, UNTIL), exposed(EVERY, date(2027, 2, 1))
    assert held.findings and held.worst is None
    assert "waived" in held.summary
    assert over.worst is not None and "waived" not in over.summary
    # The results of the day before are judged again on the day after.
    assert exit_code(standings(read(held).nodes, None, UNTIL)) == 0
    assert exit_code(standings(read(held).nodes, None, date(2027, 2, 1))) == 1


@pytest.mark.parametrize(
    "form",
    [
        printed,
        lambda verdicts: page(verdicts, AT),
        lambda verdicts: junit(verdicts, AT, Level.ADVICE),
        lambda verdicts: markdown(verdicts, AT),
    ],
    ids=["terminal", "page", "junit", "markdown"],
)
@pytest.mark.parametrize("size", [1, 41])
def test_every_report_tells_who_answers_and_until_when(
    form: Callable[[list[Verdict]], str], size: int
) -> None:
    told = form([replace(exposed(EVERY, UNTIL), node=f"gpu-{n:02}") for n in range(size)])
    for words in ("at risk, waived", "2027-01-31 waived by gpu-team: replaced in January"):
        assert words in told
    over = form([exposed(EVERY, date(2027, 2, 1))])
    assert "at risk, waived" not in over and "expired: it counts again" in over


def test_it_is_about_its_check_and_its_hosts() -> None:
    other = tuple(Waiver(w.check, w.owner, w.reason, w.expires, ("gpu-02",)) for w in EVERY)
    assert exposed(other, UNTIL).worst is exposed((), UNTIL).worst
    one = exposed(EVERY[:1], UNTIL)
    assert {result.check for result, found in one.findings if not found.counts} == {EVERY[0].check}


NARROWED = [
    (("container trainer",), {"container trainer"}),
    (("container t*",), {"container trainer"}),
    (("container t*", "container note????"), {"container trainer", "container notebook"}),
    ("container *", {"container trainer", "container notebook"}),
    (("trainer",), set()),
    (("Container trainer",), set()),
]


@pytest.mark.parametrize(("subjects", "hidden"), NARROWED)
def test_it_may_be_about_some_containers_alone(subjects: object, hidden: set[str]) -> None:
    given = {**GOOD, "check": "device-exposure", "subjects": subjects}
    judged = exposed(waivers([given], CHECKS), UNTIL)
    assert {found.subject for _, found in judged.findings if not found.counts} == hidden
    assert len(judged.findings) == 3 and judged.worst is Level.AT_RISK
    every = {"container trainer", "container notebook"}
    lines = [*unmatched_waivers(waivers([given], CHECKS), ["gpu-01"], {"gpu-01": judged.results})]
    assert bool(lines) is not bool(hidden & every)


def test_one_about_no_container_that_was_found_is_told() -> None:
    given = waivers([{**GOOD, "check": "device-exposure", "subjects": ["train*"]}], CHECKS)
    judged = exposed(given, UNTIL)
    assert [*unmatched_waivers(given, ["gpu-01", "gpu-02"], {"gpu-01": judged.results})] == [
        "waiver of device-exposure by gpu-team: saw no finding on train* but on container notebook,"
        " container trainer, want a subject as the report has it, or a pattern of some"
    ]
    good = verdict("gpu-02", recordings.node("gpu_good"))
    assert [*unmatched_waivers(given, ["gpu-01", "gpu-02"], {"gpu-02": good.results})] == []


def test_of_two_the_one_that_lasts_counts_for_each_container() -> None:
    short = {**GOOD, "check": "device-exposure", "owner": "short", "expires": "2027-02-01"}
    long = {**short, "owner": "long", "expires": "2027-03-01", "subjects": ["container trainer"]}
    for given in ([short, long], [long, short]):
        judged = exposed(waivers(given, CHECKS), UNTIL)
        owners = {f.subject: f.waiver.owner for _, f in judged.findings if f.waiver}
        assert owners == {"container trainer": "long", "container notebook": "short"}


def test_of_two_the_one_that_lasts_counts() -> None:
    over = tuple(Waiver(w.check, "before", w.reason, date(2026, 1, 1)) for w in EVERY)
    assert exposed((*over, *EVERY), UNTIL).worst is None
    assert exposed((*EVERY, *over), UNTIL).worst is None


def test_it_never_hides_an_unknown() -> None:
    every = tuple(
        Waiver(result.check, "gpu-team", "x", UNTIL)
        for result in verdict("x", recordings.node("trixie_no_root")).results
    )
    told = verdict("gpu-01", recordings.node("trixie_no_root"), waived=every, day=UNTIL)
    assert told.doubts
    (standing,) = standings(read(told).nodes, None, UNTIL)
    assert standing.status is Status.UNKNOWN


def test_drift_tells_a_finding_again_when_its_waiver_is_over() -> None:
    accepted = read(verdict("gpu-01", recordings.node("gpu_good")))
    held = read(exposed(EVERY, UNTIL))
    new = [c for c in changes(accepted, held, UNTIL) if c.kind == "new finding"]
    assert new == []
    after = date(2027, 2, 1)
    new = [c for c in changes(accepted, held, after) if c.kind == "new finding"]
    assert {change.check for change in new} >= {"device-exposure"}
    waived = judge_run(held, Baseline(accepted), None, UNTIL).record.to_json()["waived"]
    jsonschema.validate(waived, SCHEMA["properties"]["waived"] | {"$defs": SCHEMA["$defs"]})
    told = judge_run(held, Baseline(accepted), None, after)
    assert (told.why_no_changes, told.accepted) == ("", accepted.time)
    assert isinstance(waived, list)
    assert waived[0]["owner"] == "gpu-team" and waived[0]["expires"] == "2027-01-31"
    assert judge_run(held, Baseline(accepted), None, after).record.to_json()["waived"] == []
    # Accepted after that day, it was a finding then, and is no news.
    late = replace(held, nodes=tuple(replace(node, day=after) for node in held.nodes))
    assert changes(late, held, after) == []
