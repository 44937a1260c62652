"""The report: what an operator reads, and what a program reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pyinfra_nvml.audit import json_file
from pyinfra_nvml.audit.catalogue import Entry, judge
from pyinfra_nvml.audit.document import record_audit
from pyinfra_nvml.audit.verdict import Verdict, unreached, verdict
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import (
    Area,
    Finding,
    Level,
    NotApplicable,
    Outcome,
    Status,
    Undetermined,
    result,
)
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.settings.policy import Policy
from tests import recordings
from tests.fleet import printed

NODES = ("bookworm_lost", "forky_cgroupfs", "trixie_exposed", "trixie_no_root")


def fleet() -> list[Verdict]:
    told = [verdict(name, recordings.node(name), execs=1) for name in NODES]
    return [*told, unreached("gpu-09", "could not be connected to")]


def test_the_fleet_table_shows_the_odd_ones_out() -> None:
    text = printed(fleet())
    rows = {line.split()[0]: line for line in text.splitlines()[:6] if line}
    assert rows["bookworm_lost"].rstrip().endswith("broken")
    assert rows["forky_cgroupfs"].rstrip().endswith("ok")
    assert rows["trixie_exposed"].rstrip().endswith("at risk")
    assert rows["trixie_no_root"].rstrip().endswith("unknown")
    assert "no answer" in text


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (150, "node engine driver cgroup module library containers verdict"),
        (100, "node engine driver cgroup containers verdict"),
        (80, "node engine driver verdict"),
        (50, "node driver verdict"),
    ],
)
def test_a_narrow_terminal_has_fewer_columns_and_no_broken_words(width: int, columns: str) -> None:
    lines = printed(fleet(), width).splitlines()
    assert lines[0].split() == columns.split()
    assert max(map(len, lines[: len(fleet()) + 1])) <= width
    assert [line.split()[0] for line in lines[1:6]] == [*NODES, "gpu-09"]


def test_every_finding_has_its_block_and_every_doubt_its_reason() -> None:
    text = printed(fleet())
    assert "bookworm_lost · container trainer · broken" in text
    assert "could not tell" in text
    assert "want root to look into /proc" in text
    assert "gpu-09 · no answer: could not be connected to" in text


def test_a_deploy_that_a_finding_names_is_told_how_to_run() -> None:
    lines = printed(fleet()).splitlines()
    told = [line for line in lines if line.startswith("deploys/")]
    assert [line.split(": ")[0] for line in told] == ["deploys/fix_cgroup.py"]
    assert "`pyinfra INVENTORY deploys/fix_cgroup.py --dry --diff`" in told[0]
    assert not [line for line in printed(fleet()[1:2]).splitlines() if "deploys/" in line]


def test_findings_come_in_the_order_to_look() -> None:
    areas = [found.area for found, _ in verdict("x", recordings.node("bookworm_lost")).findings]
    assert areas == sorted(areas, key=list(Area).index)


def test_what_a_node_says_is_no_markup() -> None:
    bad = Finding(
        Level.BROKEN, "container [red]x[/red]", "[bold]", "[/]", "[link=x]", Repair.NONE, "x"
    )
    told = Verdict("[b]n", recordings.node("blank"), (result("a", Area.DEVICES, [bad]),))
    text = printed([told])
    assert "[b]n · container [red]x[/red] · broken" in text
    assert "[link=x]" in text


def test_the_document_holds_every_node_and_is_json(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "audit.json"
    json_file.write_json(
        path, record_audit(fleet(), datetime(2026, 1, 2, tzinfo=timezone.utc)).to_json()
    )
    read = json.loads(path.read_text())
    assert read["version"] == 1
    assert read["time"] == "2026-01-02T00:00:00+00:00"
    assert [node["node"] for node in read["nodes"]] == [*NODES, "gpu-09"]
    assert read["nodes"][-1]["no_answer"] == "could not be connected to"
    assert [place.name for place in path.parent.iterdir()] == ["audit.json"]


def test_a_document_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    path.write_text("old")
    with pytest.raises(TypeError):
        json_file.write_json(path, {"x": object()})
    assert path.read_text() == "old"
    assert [place.name for place in tmp_path.iterdir()] == ["audit.json"]


def test_unknown_is_never_ok() -> None:
    doubt = Undetermined("node", "timed out")
    assert result("a", Area.DEVICES, []).status is Status.OK
    assert result("a", Area.DEVICES, [doubt]).status is Status.UNKNOWN
    assert result("a", Area.DEVICES, [NotApplicable("x"), doubt]).status is Status.UNKNOWN
    told = Verdict("n", recordings.node("blank"), (result("a", Area.DEVICES, [doubt]),))
    assert told.summary == "1 unknown"


@pytest.mark.parametrize("level", Level)
def test_a_level_is_reached_by_what_is_as_bad_or_worse(level: Level) -> None:
    finding = Finding(Level.AT_RISK, "x", "x", "x", "x", Repair.NONE, "x")
    told = Verdict("n", recordings.node("blank"), (result("a", Area.DEVICES, [finding]),))
    assert told.reaches(level) is (level is not Level.BROKEN)
    assert not told.reaches(None)


def test_a_check_that_fails_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    def surprised(node: NodeState, _: Policy) -> Iterator[Outcome]:
        raise ValueError(f"surprise: {type(node).__name__}")

    entry = Entry("surprised", Area.DEVICES, "", surprised)
    monkeypatch.setattr("pyinfra_nvml.audit.catalogue.check_entries", lambda: (entry,))
    told = judge(recordings.node("blank"))
    assert told[0].status is Status.UNKNOWN
    assert "ValueError: surprise" in told[0].doubts[0].reason


def test_the_readme_opens_with_a_report_as_it_is_printed() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text()
    shown = text.partition("```\n")[2].partition("```")[0].splitlines()
    fleet = {"gpu-01": "bookworm_lost", "gpu-02": "trixie_exposed", "gpu-03": "gpu_good"}
    told = [verdict(name, recordings.node(node), execs=1) for name, node in fleet.items()]
    lines = {re.sub(r" \(last [^)]*\)", "", line).rstrip() for line in printed(told).splitlines()}
    assert [line for line in shown if line.rstrip() not in lines] == []
    assert len(shown) > 10
