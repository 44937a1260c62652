"""A large fleet's report: what is alike in one row, the odd ones in full, nothing lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyinfra_nvml.audit.verdict import Verdict, unreached
from pyinfra_nvml.model.finding import Area, Finding, Level, Undetermined, Waived, result
from pyinfra_nvml.model.remedy import Repair
from tests import recordings
from tests.fleet import ALIKE, large, printed


def test_alike_nodes_are_one_row_and_the_odd_ones_rows_of_their_own() -> None:
    text = printed(large())
    rows = text.split("\n\n")[0].splitlines()
    assert len(rows) < 8
    assert "496 nodes: gpu-[000-249,253-416,418-499]" in text.replace("\n", "")
    assert any(row.startswith("gpu-417 ") and row.rstrip().endswith("broken") for row in rows)
    assert "3 nodes: gpu-[250-252]" in text
    assert "500 nodes: 1 broken, " in text.splitlines()[-1]


def test_the_odd_node_is_told_in_full() -> None:
    text = printed(large())
    assert "gpu-417 · container trainer · broken" in text
    assert "| /dev/nvidiactl 195:255 EPERM" in text
    assert "gpu-[250-252] · no answer: could not be connected to" in text


def found(subject: str, level: Level = Level.AT_RISK) -> Finding:
    return Finding(level, subject, "driver systemd", "cgroupfs", "why", Repair.NONE, "do")


def told(number: int, *findings: Finding) -> Verdict:
    results = (result("engine-driver", Area.CGROUP, findings),)
    return Verdict(f"n{number}", recordings.node("blank"), results, execs=1)


def test_the_same_finding_of_many_nodes_is_one_block() -> None:
    text = printed([told(number, found("container engine")) for number in range(100)])
    assert text.count("container engine · at risk") == 1
    assert "n[0-99] · container engine · at risk  [engine-driver]" in text


def test_findings_that_differ_by_node_are_counted_past_the_first() -> None:
    text = printed([told(number, found(f"container job-{number}")) for number in range(100)])
    assert text.count("· container job-") == 3
    assert "n[3-99] · 97 more, at risk  [engine-driver]" in text


def test_a_finding_of_another_kind_is_shown_however_many_of_the_first_there_are() -> None:
    nodes = [told(number, found(f"container job-{number}")) for number in range(100)]
    odd = found("container odd")
    nodes[3] = told(3, replace(odd, why="another"))
    nodes[60] = told(60, replace(odd, repair=Repair.REBOOT))
    nodes[70] = told(70, replace(odd, why="why at 12:01"))
    text = printed(nodes)
    for number in (3, 60, 70):
        assert f"n{number} · container odd · at risk" in text
    assert "96 more, at risk  [engine-driver]" in text
    nodes[71] = told(71, replace(odd, why="why at 12:02"))
    assert "n71 · container odd" not in printed(nodes)


def test_what_is_waived_is_counted_apart() -> None:
    waived = Waived("gpu-team", "replaced", "2027-01-31", expired=False)
    nodes = [told(n, found(f"container job-{n}")) for n in range(50)]
    nodes += [told(n, replace(found(f"container job-{n}"), waiver=waived)) for n in range(50, 100)]
    text = printed(nodes)
    assert "n[3-49] · 47 more, at risk  [" in text
    assert "n[53-99] · 47 more, at risk, waived  [" in text


@pytest.mark.parametrize("width", [80, 100, 150, 200])
def test_a_table_of_nodes_of_which_hardly_two_are_alike_shows_the_worst(width: int) -> None:
    nodes = large()
    for number in range(0, 400, 2):
        doubts = [Undetermined(str(at), "timed out") for at in range(number + 1)]
        results = (result("wsl", Area.DEVICES, doubts),)
        nodes[number] = replace(ALIKE, node=f"gpu-{number:03}", results=results)
    table = printed(nodes, width).split("\n\n")[0].splitlines()
    assert len(table) < 40 * 3
    assert max(map(len, table)) <= width
    assert any(line.startswith("gpu-417 ") for line in table[1:15])
    assert "163" in "".join(line.split(" ")[0] for line in table[-8:])


def test_what_hardly_two_nodes_leave_untold_is_counted_past_the_first() -> None:
    nodes = [
        Verdict(f"n{n}", recordings.node("blank"), (result("wsl", Area.DEVICES, [doubt]),))
        for n, doubt in enumerate(Undetermined(f"pid {n}", "timed out") for n in range(60))
    ]
    nodes += [unreached(f"n{n}", f"no route to 10.0.0.{n}") for n in range(60, 120)]
    text = printed(nodes)
    assert text.count("timed out  [wsl]") == text.count("no answer: no route to") == 3
    assert "n[3-59] · could not tell\n  57 more, each in full in the JSON and HTML" in text
    assert "n[63-119] · no answer: 57 more reasons, each in full in the JSON and HTML" in text


def test_a_thing_that_nodes_of_different_doubts_share_is_told_once() -> None:
    shared, own = (
        Undetermined("mig", "timed out"),
        [Undetermined(f"pid {n}", "timed out") for n in range(50)],
    )
    nodes = [
        Verdict(f"n{n}", recordings.node("blank"), (result("wsl", Area.DEVICES, [shared, own[n]]),))
        for n in range(50)
    ]
    assert printed(nodes).count("mig: timed out") == 1


def test_a_text_that_no_screen_holds_is_cut_and_says_so() -> None:
    bad = "x" * 10_000
    nodes = [replace(told(1, replace(found(bad), saw=bad, evidence=(bad,))), node=bad)]
    text = printed(nodes)
    assert len(text) < 10_000
    assert text.count("more characters)") == 4
    assert len(printed(nodes * 50)) < 15_000


def test_of_many_names_the_first_are_told_and_how_many_there_are() -> None:
    nodes = [told(number, found("container engine")) for number in range(0, 1000, 2)]
    head = printed(nodes).split("\n\n")[1].splitlines()[0]
    assert head.startswith("500 nodes: n[0,2,4,")
    assert head.endswith(" ... · container engine · at risk  [engine-driver]")
    assert len(head) < 500


def test_no_node_is_not_nothing_found() -> None:
    assert printed([]).splitlines()[-1] == "0 nodes: none was asked"


def test_the_worst_come_first_whatever_the_inventory_says() -> None:
    nodes = [told(number, found("container engine")) for number in range(50)]
    nodes.append(told(50, found("container trainer", Level.BROKEN)))
    text = printed(nodes)
    assert text.index("trainer · broken") < text.index("engine · at risk")


def test_doubts_that_are_alike_are_told_once() -> None:
    doubt = result("mig-monitor", Area.DEVICES, [Undetermined("mig", "timed out")])
    nodes = [Verdict(f"n{n}", recordings.node("blank"), (doubt,), execs=1) for n in range(60)]
    text = printed(nodes)
    assert text.count("mig: timed out  [mig-monitor]") == 1
    assert "n[0-59] · could not tell" in text


def test_a_node_steers_no_terminal() -> None:
    bad = "container \x1b[2J\x07\u202eevil\r\nx"
    for nodes in ([told(1, found(bad))], [told(n, found(bad)) for n in range(50)]):
        text = printed(nodes)
        assert not set(text) & set("\x1b\x07\u202e\r")
        assert r"\x1b[2J\x07\u202eevil\x0d\x0ax" in text
