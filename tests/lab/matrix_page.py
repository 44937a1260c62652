"""docs/matrix.md: the table of what was predicted and what was done, and its count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.lab.deployed import ROOT

if TYPE_CHECKING:
    from tests.lab.matrix import Cell

PAGE = ROOT / "docs" / "matrix.md"
HEAD = """\
# Predicted and real

The audit first judged each container here, with its one command. Then the triggers were pulled on
real nodes (`make matrix`, [the lab](lab.md)), each on a container of its own. "lost" is EPERM from
the container's device. A verdict is right if

- `exposed`: the triggers that the finding names take the device, and no other does;
- `safe`: no trigger takes it;
- the audit after the triggers reports a loss for those that lost the device, and for no other.

"switched" is a container that was started on systemd; then `daemon.json` got cgroupfs, and
live-restore kept the container through the restart of Docker.

"""
COLUMNS = (
    "node",
    "systemd",
    "Docker",
    "runc",
    "cgroup",
    "driver",
    "asked with",
    "live-restore",
    "predicted",
    "daemon-reload",
    "set-property",
    "right",
)
WORDS = {
    "gpus": "`--gpus all`",
    "device": "`--device` both nodes",
    "device_gpu_only": "`--device` GPU only",
    "cdi": "CDI",
    "privileged": "`--privileged`",
}
ANSWERS = {"ENXIO": "kept", "EPERM": "**lost**", "": "(no scope)"}


def page(cells: Sequence[Cell]) -> str:
    """The page's text; its last line counts."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_row(cell) for cell in cells)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{HEAD}{table}\n\n{count(cells)}\n"


def count(cells: Sequence[Cell]) -> str:
    """How many cells there are, and how many of them are wrong."""
    return f"cells: {len(cells)}, wrong: {sum(bool(cell.wrong) for cell in cells)}"


def write(cells: Sequence[Cell]) -> str:
    """Write the page; returns its last line, behind a line for each wrong cell."""
    PAGE.write_text(page(cells))
    wrong = [f"{c.node} {c.setting.value} {c.way}: {c.wrong}" for c in cells if c.wrong]
    return "\n".join([*wrong, count(cells)])


def _row(cell: Cell) -> tuple[str, ...]:
    versions = cell.versions
    return (
        cell.node,
        versions.systemd,
        versions.docker,
        versions.runc,
        versions.cgroup,
        cell.setting.value,
        WORDS[cell.way],
        "switched" if cell.setting.live_restore else "off",
        cell.predicted,
        ANSWERS.get(cell.reload, cell.reload),
        ANSWERS.get(cell.change, cell.change),
        cell.wrong or "yes",
    )
