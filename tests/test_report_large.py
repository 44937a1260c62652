"""A large fleet's report: what is alike in one row, the odd ones in full, nothing lost."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from audit.finding import Area, Doubt, Finding, Level, Repair, result
from audit.report.terminal import show
from audit.verdict import Verdict, unreached, verdict
from tests import recordings

ALIKE = verdict("gpu-000", recordings.node("gpu_good"), execs=1)
ODD = verdict("gpu-417", recordings.node("bookworm_lost"), execs=1)


def fleet(size: int = 500) -> list[Verdict]:
    nodes = [replace(ALIKE, node=f"gpu-{number:03}") for number in range(size)]
    nodes[417] = ODD
    nodes[250:253] = [unreached(node.node, "could not be connected to") for node in nodes[250:253]]
    return nodes


def printed(verdicts: list[Verdict]) -> str:
    stream = io.StringIO()
    show(verdicts, Console(file=stream, width=150, highlight=False))
    return stream.getvalue()


def test_alike_nodes_are_one_row_and_the_odd_ones_rows_of_their_own() -> None:
    text = printed(fleet())
    rows = text.split("\n\n")[0].splitlines()
    assert len(rows) < 8
    assert "496 nodes: gpu-[000-249,253-416,418-499]" in text.replace("\n", "")
    assert any(row.startswith("gpu-417 ") and row.rstrip().endswith("broken") for row in rows)
    assert "3 nodes: gpu-[250-252]" in text
    assert "500 nodes: 1 broken, " in text.splitlines()[-1]


def test_the_odd_node_is_told_in_full() -> None:
    text = printed(fleet())
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


def test_the_worst_come_first_whatever_the_inventory_says() -> None:
    nodes = [told(number, found("container engine")) for number in range(50)]
    nodes.append(told(50, found("container trainer", Level.BROKEN)))
    text = printed(nodes)
    assert text.index("trainer · broken") < text.index("engine · at risk")


def test_doubts_that_are_alike_are_told_once() -> None:
    doubt = result("mig-monitor", Area.REST, [Doubt("mig", "timed out")])
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
