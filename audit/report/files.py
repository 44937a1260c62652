"""The reports of one run as files on this machine, each where a knob says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from audit.json_file import write
from audit.knobs import Knobs
from audit.place import put
from audit.report.document import Run, document
from audit.report.junit import junit
from audit.report.markdown import markdown
from audit.report.page import page
from audit.verdict import Verdict


def write_all(knobs: Knobs, verdicts: Sequence[Verdict], at: datetime, run: Run) -> Iterator[Path]:
    """Writes every report that was asked for; yields each path once it is in place."""
    if knobs.report_json:
        write(knobs.report_json, document(verdicts, at, run))
        yield knobs.report_json
    if knobs.report_html:
        put(knobs.report_html, page(verdicts, at, run))
        yield knobs.report_html
    if knobs.report_junit:
        put(knobs.report_junit, junit(verdicts, at, knobs.audit_level))
        yield knobs.report_junit
    if knobs.report_markdown:
        put(knobs.report_markdown, markdown(verdicts, at, run))
        yield knobs.report_markdown
