"""The audit's verdict against the real triggers: two whole nodes of the matrix, and its page."""

from __future__ import annotations

import pytest

from tests.lab import containers, matrix_page
from tests.lab.matrix import available, cells, verdicts
from tests.lab.session import Lab

BUSY = "sh -c 'while :; do sleep 0.05; done'"
"""A container whose processes come and go while they are looked at."""


@pytest.mark.parametrize("kind", ["trixie", "legacy"])
def test_no_verdict_is_wrong(lab: Lab, kind: str) -> None:
    if not available(kind):
        pytest.skip(f"no {kind} here")
    measured = cells(lab, kind)
    assert len(measured) >= 9
    assert [f"{c.setting.value} {c.way}: {c.wrong}" for c in measured if c.wrong] == []


def test_a_container_of_short_lived_processes_is_looked_into(lab: Lab) -> None:
    """Its device is asked for through a process that lives."""
    node = lab.node("trixie")
    containers.start(node, "busy-reload", "device_gpu_only")
    try:
        node.sh(f"for i in 1 2 3 4; do docker exec --detach busy-reload {BUSY}; done")
        for _ in range(8):
            assert verdicts(node).of("busy", "reload") == ("safe", "")
    finally:
        containers.remove(node, "busy-reload")


def test_the_page_counts_no_wrong_cell() -> None:
    last = matrix_page.PAGE.read_text().splitlines()[-1]
    assert last.startswith("cells: ")
    assert last.endswith(", wrong: 0")
