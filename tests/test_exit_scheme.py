"""What each scheme makes of a run: code and line, and nothing that the scheduler would misread."""

from __future__ import annotations

import pytest

from pyinfra_nvml.audit.standing import Standing
from pyinfra_nvml.drift.exit_scheme import Scheme, scheme_code, status_line
from pyinfra_nvml.model.finding import Level, Status

CLEAN = Standing("gpu-01", Status.OK, None, None, "ok")
ADVICE = Standing("gpu-02", Status.OK, Level.ADVICE, None, "advice: docker: x [engine-config]")
RISK = Standing("gpu-03", Status.FOUND, Level.AT_RISK, None, "at risk: container a | b: x [c]")
BROKEN = Standing("gpu-04", Status.FOUND, Level.BROKEN, None, "broken: container ü\n: " + "é" * 90)
SILENT = Standing(
    "gpu-05", Status.UNKNOWN, None, None, "no answer: could not be connected to", True
)
DOUBT = Standing("gpu-06", Status.UNKNOWN, Level.ADVICE, None, "unknown: docker: x [engine-config]")

CASES = [
    ([CLEAN], 0, (0, 0, 0), "OK"),
    ([CLEAN, ADVICE], 0, (0, 0, 0), "OK"),
    ([CLEAN, RISK], 1, (1, 1, 1), "WARNING - gpu-03: at risk: container a / b: x [c] | "),
    ([RISK, BROKEN, SILENT], 1, (1, 2, 1), "CRITICAL - gpu-04 (and 1 node more): broken: "),
    ([CLEAN, SILENT], 2, (2, 3, 2), "UNKNOWN - gpu-05: no answer: could not be connected to | "),
    ([DOUBT, SILENT], 2, (2, 3, 2), "UNKNOWN - gpu-05 (and 1 node more): no answer: could not"),
    ([SILENT, DOUBT, RISK], 1, (1, 1, 1), "WARNING - gpu-03: at risk: "),
    ([], 2, (2, 3, 2), "UNKNOWN - no node was audited | nodes=0"),
    ([], 3, (3, 3, 2), "UNKNOWN - limit x"),
]


@pytest.mark.parametrize(("found", "plain", "codes", "text"), CASES)
def test_a_run(found: list[Standing], plain: int, codes: tuple[int, int, int], text: str) -> None:
    assert tuple(scheme_code(scheme, plain, found) for scheme in Scheme) == codes
    reason = "limit x: saw no such host" if plain == 3 else ""
    nagios = status_line(Scheme.NAGIOS, plain, found, reason)
    assert nagios.startswith(f"NVML {text}")
    assert nagios.count("|") == 1 and "\n" not in nagios
    npd = status_line(Scheme.NPD, plain, found, reason)
    assert 0 < len(npd.encode()) <= 80 and "\n" not in npd


def test_the_perfdata_counts_nodes_by_their_worst_level() -> None:
    said = status_line(Scheme.NAGIOS, 1, [CLEAN, ADVICE, RISK, BROKEN, SILENT], "")
    assert said.endswith(" | nodes=5 broken=1 at_risk=1 advice=1 unknown=1")
