"""Writes the pictures in docs/: the HTML report of the recorded fleet and of a fleet of 500.

python -m docs.pictures
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from audit.report.page import page
from audit.verdict import Verdict, verdict
from tests import recordings
from tests.chromium import Page
from tests.test_report_large import fleet

HERE = Path(__file__).parent
AT = datetime(2026, 1, 2, 3, 4, tzinfo=timezone.utc)


def main() -> None:
    """Draws each once; wants chromium."""
    binary = shutil.which("chromium")
    if binary is None:
        sys.exit("pictures: no chromium here, want it: apt-get install chromium")
    with tempfile.TemporaryDirectory() as home, Page(binary) as browser:
        for name, verdicts, scheme in (
            ("demo", recorded(), "light"),
            ("fleet", fleet()[:486] + recorded(), "dark"),
        ):
            path = Path(home) / f"{name}.html"
            path.write_text(page(verdicts, AT), encoding="utf-8")
            browser.media(scheme=scheme)
            browser.resize(1250, 900)
            browser.open(path)
            browser.picture(HERE / f"report-{name}.png")
        browser.media()
        browser.resize(390, 844, phone=True)
        browser.open(path, "?verdict=broken")
        browser.picture(HERE / "report-phone.png")


def recorded() -> list[Verdict]:
    """The recorded fleet of ``make demo``."""
    names = sorted(path.parent.name for path in recordings.NODES.glob("*/recording.txt"))
    return [verdict(name, recordings.node(name), execs=1) for name in names]


if __name__ == "__main__":
    main()
