"""Writes docs/checks.md from the checks' own docstrings, docs/mission.md from tests/mission.yaml,
docs/settings.md and the inventory's defaults from settings/.

python -m docs.generate
"""

from __future__ import annotations

from pathlib import Path

from docs import mission_page, settings_page
from pyinfra_nvml.audit.catalogue import Entry, check_entries
from pyinfra_nvml.model.finding import Area

PATH = Path(__file__).with_name("checks.md")

_HEAD = """\
# The checks

One section for each, in the order to look: versions, then cgroups, then the rest. A check answers
`ok`, `found`, `unknown` (with the reason; never taken for ok) or `not applicable`. "By hand"
means that this project tells you what to do and never does it. Written by `make docs` from the
docstrings in `checks/`; change it there.
"""


def pages() -> str:
    """The text of docs/checks.md."""
    parts = [_HEAD, _index()]
    parts += [_page(entry) for entry in check_entries()]
    return "\n".join(parts)


def _index() -> str:
    lines = []
    for area in Area:
        lines += [f"**{area.value}**", ""]
        lines += [
            f"- [{entry.id}](#{entry.id}): {_summary(entry)}"
            for entry in check_entries()
            if entry.area is area
        ]
        lines += [""]
    return "\n".join(lines)


def _summary(entry: Entry) -> str:
    return entry.page.strip().splitlines()[0].rstrip(".")


def _page(entry: Entry) -> str:
    body = "\n".join(_heading(line) for line in entry.page.strip().splitlines())
    return f"## {entry.id}\n\n{body}\n"


def _heading(line: str) -> str:
    """The words before an example stand out; the example itself is indented already."""
    if line in ("Bad:", "Good:"):
        return f"**{line}**"
    word = "Repair:"
    return f"**{word}**{line[len(word) :]}" if line.startswith(word) else line


if __name__ == "__main__":
    PATH.write_text(pages())
    mission_page.PATH.write_text(mission_page.page())
    settings_page.DEFAULTS.write_text(settings_page.defaults())
    settings_page.PATH.write_text(settings_page.page())
    print(f"written: {PATH}, {mission_page.PATH}, {settings_page.PATH}")
