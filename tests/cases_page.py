"""Writes docs/cases.md from tests/cases.

python -m tests.cases_page
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.public_cases import Case, cases

PATH = Path(__file__).parent.parent / "docs" / "cases.md"

_HEAD = """\
# What people met

Nodes from public threads and documents, rebuilt from what their reporters wrote, each with the
verdict and the repair that are right for it. Every one is a test (`tests/cases/ID.yaml`, judged by
`tests/test_cases.py`): all checks look at the whole node, and the cure is planned for it. The files
say what the source saw, and what we added to make the node complete. Written by `make docs`; change
it there. The questions behind them: [faq](faq.md).

| verdict | meaning |
| --- | --- |
| BROKEN | a container has lost its GPU: systemd, or an update of the container, took it away |
| AT-RISK | a container will lose it at the next `systemctl daemon-reload` or `docker update` |
| OTHER | broken, or about to be, by something that the cgroup cure does not repair |
| OK | nothing to repair, whatever it looks like |
| UNKNOWN | not enough could be seen, and the audit says so |

| repair | meaning |
| --- | --- |
| REPAIR | `deploys/fix_cgroup.py` sets Docker to cgroupfs |
| ADVISE | the audit says what to do; nothing is changed |
| REFUSE | the cure refuses the node, with reasons |
| NONE | nothing to do |

"""


def page() -> str:
    """The text of docs/cases.md."""
    every = cases()
    rows = ["| test | source | seen | verdict | repair | settled by |", "|" + " --- |" * 6]
    rows += [_row(case) for case in every]
    right = sum(case.right for case in every)
    return _HEAD + "\n".join(rows) + f"\n\ncases: {len(every)}, judged right: {right}\n"


def _row(case: Case) -> str:
    said = case.said
    cells: Sequence[str] = (
        f"[{case.id}](../tests/cases/{case.id}.yaml)",
        f"[{_thread(said['source'])}]({said['source']})",
        " ".join(str(said["seen"]).split()).replace("|", "/"),
        said["verdict"],
        said["repair"],
        said["settled_by"],
    )
    return f"| {' | '.join(cells)} |"


def _thread(url: str) -> str:
    """``NVIDIA/nvidia-docker#1671`` of a thread on GitHub, else the site's name."""
    found = re.match(r"https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/(\d+)$", url)
    return f"{found[1]}#{found[2]}" if found else url.split("/")[2]


if __name__ == "__main__":
    PATH.write_text(page())
    print(f"written: {PATH}")
