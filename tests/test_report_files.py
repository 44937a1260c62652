"""The reports that programs and people read from files: JSON to its schema, JUnit, Markdown."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime, timezone
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
from markdown_it import MarkdownIt

from pyinfra_nvml.audit.document import Run, record_audit
from pyinfra_nvml.audit.verdict import Verdict, unreached, verdict
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Undetermined, result
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.files import write_reports
from pyinfra_nvml.reports.junit import junit
from pyinfra_nvml.reports.markdown import escaped, markdown
from pyinfra_nvml.settings.models import Settings
from pyinfra_nvml.settings.waivers import Waiver
from tests import recordings

AT = datetime(2026, 1, 2, tzinfo=timezone.utc)
SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "audit.schema.json").read_text())
RECORDED = sorted(path.parent.name for path in recordings.NODES.glob("*/recording.txt"))
EVIL = "`x` <b>*bold*</b> @team #1 [a](b) | \x1b[2J\x00 ]]> &amp; \\ ```\n# head"


def fleet() -> list[Verdict]:
    told = [verdict(name, recordings.node(name), execs=1) for name in RECORDED]
    return [*told, unreached("gpu-09", "could not be connected to")]


def evil() -> Verdict:
    finding = Finding(Level.BROKEN, EVIL, EVIL, EVIL, EVIL, Repair.NONE, EVIL, EVIL, (EVIL,))
    results = (
        result("device-loss", Area.DEVICES, [finding]),
        result("mig-monitor", Area.DEVICES, [Undetermined(EVIL, EVIL)]),
        result("wsl", Area.DEVICES, [NotApplicable(EVIL)]),
    )
    return Verdict(EVIL, recordings.node("blank"), results)


def test_every_recorded_node_s_document_fits_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    run = Run(
        plans={"gpu-09": ("x",)}, untouched={"gpu-09": "canary"}, failed=frozenset(RECORDED[:1])
    )
    content = json.loads(json.dumps(record_audit([*fleet(), evil()], AT, run).to_json()))
    jsonschema.validate(content, SCHEMA, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("nodes", 0, "checks", 0, "status"), "fine"),
        (("nodes", 0, "level"), "bad"),
        (("nodes", 0, "other"), 1),
        (("nodes", 0, "checks"), None),
    ],
)
def test_the_schema_refuses_what_is_not_the_document(
    path: tuple[str | int, ...], value: object
) -> None:
    content = json.loads(json.dumps(record_audit(fleet()[:1], AT).to_json()))
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, SCHEMA, jsonschema.Draft202012Validator)


def test_junit_has_a_suite_a_node_and_a_case_a_check() -> None:
    root = Xml.fromstring(junit(fleet(), AT, Level.AT_RISK))
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == [*RECORDED, "gpu-09"]
    lost = suites["bookworm_lost"]
    failed = [case.get("name") for case in lost if case.find("failure") is not None]
    assert "device-loss" in failed
    assert lost.get("failures") == str(len(failed))
    assert suites["gpu-09"].get("errors") == "1"
    assert suites["trixie_no_root"].get("errors") != "0"
    assert int(root.get("tests", "0")) == sum(int(suite.get("tests", "0")) for suite in root)


def test_junit_has_one_outcome_a_case_and_says_it_in_its_text_too() -> None:
    # Jenkins shows a case's first error before its failures, GitLab the text and no message.
    root = Xml.fromstring(junit([*fleet(), evil()], AT, Level.ADVICE))
    outcomes = [[e for e in case if e.tag != "system-out"] for case in root.iter("testcase")]
    assert max(map(len, outcomes)) == 1
    told = [outcome for one in outcomes for outcome in one]
    assert {one.tag for one in told} == {"failure", "error", "skipped"}
    assert [one.attrib for one in told if not one.text or not one.get("message")] == []


def test_junit_counts_the_findings_that_a_case_has_past_its_first() -> None:
    root = Xml.fromstring(junit([verdict("x", recordings.node("bookworm_lost"))], AT, Level.BROKEN))
    lost = root.find(".//testcase[@name='device-loss']/failure")
    assert lost is not None and lost.text is not None
    assert lost.get("message", "").endswith("want its devices reachable (and 1 more)")
    assert "container notebook" in lost.text and "container trainer" in lost.text


def test_junit_shows_a_waived_finding_as_skipped_by_whom_and_until_when() -> None:
    waiver = Waiver("engine-driver", "gpu-team", "replaced", date(2027, 1, 31))
    told = verdict("x", recordings.node("trixie_exposed"), waived=[waiver], day=AT.date())
    root = Xml.fromstring(junit([told], AT, Level.ADVICE))
    skipped = root.find(".//testcase[@name='engine-driver']/skipped")
    assert skipped is not None
    assert skipped.get("message") == "until 2027-01-31 waived by gpu-team: replaced"


def test_junit_tells_a_change_that_failed_and_one_that_was_not_begun() -> None:
    run = Run(untouched={"gpu-09": "canary: saw a fail"}, failed=frozenset({"trixie_exposed"}))
    root = Xml.fromstring(junit(fleet(), AT, None, run))
    changes = {case.get("classname"): case[0] for case in root.iter("testcase") if _change(case)}
    assert {node: one.tag for node, one in changes.items()} == {
        "trixie_exposed": "failure",
        "gpu-09": "skipped",
    }
    assert changes["gpu-09"].text == "not touched: canary: saw a fail"


def _change(case: Xml.Element) -> bool:
    return case.get("name") == "change"


def test_junit_fails_by_the_level_asked_for() -> None:
    told = [verdict("x", recordings.node("bookworm_lost"))]
    broken, risk, none = (
        int(Xml.fromstring(junit(told, AT, level)).get("failures", ""))
        for level in (Level.BROKEN, Level.AT_RISK, None)
    )
    assert 0 == none < broken < risk


def test_junit_keeps_what_xml_cannot_hold_as_its_escape() -> None:
    text = junit([evil()], AT, Level.BROKEN)
    case = Xml.fromstring(text).find(".//failure")
    assert case is not None
    assert r"\x1b[2J\x00 ]]>" in case.get("message", "")
    assert r"\x0a# head" in (case.text or "")


def rendered(text: str) -> str:
    page: str = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    return page


def test_markdown_shows_the_table_and_the_evidence() -> None:
    page = rendered(markdown(fleet(), AT))
    assert "<td>bookworm_lost</td>" in page
    assert "/dev/nvidiactl 195:255 EPERM" in page
    assert "no answer: could not be connected to" in page


def test_nothing_a_node_said_is_markup() -> None:
    page = rendered(markdown([evil()], AT))
    assert "<b>" not in page
    assert "<a " not in page
    assert "<h1>" not in page
    assert "<em>bold" not in page
    assert page.count("<table>") == 1
    assert "@" not in escaped(EVIL)
    assert "<td>`x` &lt;b&gt;*bold*&lt;/b&gt; @team #1 [a](b) | \\x1b[2J" in page


def test_markdown_fits_a_comment_and_says_what_it_leaves_out() -> None:
    words = "y" * 900
    finding = Finding(Level.BROKEN, "x", "", words, words, Repair.NONE, words, words, (words,))
    nodes = [
        Verdict(
            f"gpu-{n}",
            recordings.node("blank"),
            tuple(
                result(f"check-{at}", Area.DEVICES, [replace(finding, saw=f"{n} {at}")])
                for at in range(20)
            ),
        )
        for n in range(500)
    ]
    text = markdown(nodes, AT)
    assert 60_000 < len(text) <= 65_536
    assert (
        text.rstrip()
        .splitlines()[-1]
        .endswith("in full in the JSON and HTML reports (report_json, report_html)")
    )
    assert " more, for which 65536 characters have no room: " in text
    assert rendered(text).count("<pre>") == text.count("```text")


def test_a_change_that_failed_is_told_beside_the_verdict() -> None:
    run = Run(untouched={"gpu-09": "canary: saw a fail"}, failed=frozenset({"trixie_exposed"}))
    text = markdown(fleet(), AT, run)
    assert "gpu-09 · not touched: canary: saw a fail" in text
    assert "trixie_exposed · a change failed here" in text


def test_each_report_goes_where_its_setting_says(tmp_path: Path) -> None:
    out = tmp_path / "out"
    wanted = [out / "a.json", out / "a.html", out / "a.xml", out / "a.md"]
    settings = Settings(
        report_json=wanted[0],
        report_html=wanted[1],
        report_junit=wanted[2],
        report_markdown=wanted[3],
    )
    assert list(write_reports(settings, fleet(), AT, Run())) == wanted
    assert sorted(out.iterdir()) == sorted(wanted)
    nowhere = Settings(report_json=None, report_html=None)
    assert list(write_reports(nowhere, fleet(), AT, Run())) == []


def test_a_report_that_cannot_be_written_is_told_and_takes_no_other(tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    settings = Settings(
        report_json=None,
        report_html=tmp_path / "full" / "a.html",
        report_markdown=tmp_path / "a.md",
    )
    lost, written = write_reports(settings, fleet(), AT, Run())
    assert isinstance(lost, Unknown)
    assert lost.reason.startswith(f"report_html {tmp_path}/full/a.html: saw "), lost.reason
    assert lost.reason.endswith(", want a file to write")
    assert written == tmp_path / "a.md" and (tmp_path / "a.md").exists()


def test_a_form_that_stumbles_is_told_and_takes_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyinfra_nvml.reports.files.page", lambda *_: [][0])
    settings = Settings(
        report_json=None, report_html=tmp_path / "a.html", report_markdown=tmp_path / "a.md"
    )
    lost, written = write_reports(settings, fleet(), AT, Run())
    assert isinstance(lost, Unknown)
    assert "a.html: not written: IndexError: list index out of range" in lost.reason
    assert written == tmp_path / "a.md"
