"""Writes the pictures in docs/: the report of recorded nodes, in a terminal and as a page.

python -m docs.pictures
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from pyinfra_nvml.audit.verdict import Verdict, verdict
from pyinfra_nvml.reports.page import page
from pyinfra_nvml.reports.terminal import print_report
from pyinfra_nvml.settings.policy import Policy
from tests import recordings
from tests.chromium import Page
from tests.test_report_large import fleet

HERE = Path(__file__).parent
_SCREEN = "html { overflow: hidden } pre { white-space: pre-wrap !important }"
"""What a terminal does with long lines, and with those above its window."""
AT = datetime(2026, 1, 2, 3, 4, tzinfo=timezone.utc)


def main() -> None:
    """Draws each once; wants chromium."""
    binary = shutil.which("chromium")
    if binary is None:
        sys.exit("pictures: no chromium here, want it: apt-get install chromium")
    with tempfile.TemporaryDirectory() as home, Page(binary) as browser:
        for name, verdicts, scheme in (
            ("demo", recorded(), "light"),
            ("fleet", (recorded() + fleet())[:500], "dark"),
        ):
            path = Path(home) / f"{name}.html"
            path.write_text(page(verdicts, AT), encoding="utf-8")
            browser.media(scheme=scheme)
            browser.resize(1250, 900)
            browser.open(path)
            browser.picture(HERE / f"report-{name}.png")
        browser.media(scheme="dark")
        browser.resize(1500, 620)
        terminal = Path(home) / "terminal.html"
        terminal.write_text(printed(), encoding="utf-8")
        browser.open(terminal)
        browser.picture(HERE / "report-terminal.png")
        browser.media()
        browser.resize(390, 844, phone=True)
        browser.open(path, "?verdict=broken")
        browser.picture(HERE / "report-phone.png")


def printed() -> str:
    """The three nodes that the README opens with, as a terminal shows them."""
    console = Console(record=True, width=140, file=io.StringIO(), force_terminal=True)
    fleet = {"gpu-01": "bookworm_lost", "gpu-02": "trixie_exposed", "gpu-03": "gpu_good"}
    print_report(
        [verdict(name, recordings.node(node), execs=1) for name, node in fleet.items()], console
    )
    page = console.export_html(theme=MONOKAI, inline_styles=True)
    return page.replace("<head>", f"<head><style>{_SCREEN}</style>")


def recorded() -> list[Verdict]:
    """The recorded fleet of ``make demo``, with the monitor that its inventory names."""
    names = sorted(path.parent.name for path in recordings.NODES.glob("*/recording.txt"))
    policy = {"gpu_mig": Policy(mig_monitors=("exporter",))}
    return [verdict(name, recordings.node(name), 1, policy.get(name)) for name in names]


if __name__ == "__main__":
    main()
