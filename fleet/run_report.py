"""The report of a run: its files, the state that was accepted with it, the screen."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

import click
from rich.console import Console

from pyinfra_nvml.audit import baseline
from pyinfra_nvml.audit.document import Run, record_audit
from pyinfra_nvml.audit.record import RecordedAudit
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.fleet import run_inventory
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.files import write_reports
from pyinfra_nvml.reports.terminal import print_report
from pyinfra_nvml.settings.models import Settings

_WIDTH = 150
"""Columns of a report that goes to a file or another program."""


@dataclass
class RunReport:
    """What a run tells of its hosts; ``lost`` is what it could not write or show, and why."""

    settings: Settings
    verdicts: Sequence[Verdict]
    at: datetime
    run: Run
    lost: list[str] = field(default_factory=list)

    @cached_property
    def _recorded(self) -> RecordedAudit:
        return record_audit(self.verdicts, self.at, self.run)

    def write(self) -> Iterator[str]:
        """Writes the files that the settings name; yields a line for each."""
        there = list(
            write_reports(self.settings, self.verdicts, self.at, self.run, lambda: self._recorded)
        )
        for path in there:
            if isinstance(path, Unknown):
                self.lost.append(path.reason)
            yield path.reason if isinstance(path, Unknown) else f"written: {path}"
        # Nobody could look up what was accepted without its audit.
        if self.settings.accept and self.settings.report_json in there:
            yield from self._accept(self.settings.report_json.parent)

    def _accept(self, place: Path) -> Iterator[str]:
        try:
            named = run_inventory.NAMED.get("inventory")
            yield from baseline.accept_baseline(self._recorded, place, self.at, named)
        except OSError as fault:
            saw = f"saw {fault.strerror or fault}, want today's state accepted"
            self.lost.append(f"{place / baseline.NAME}: {saw}")
            yield self.lost[-1]

    def show(self, lines: Iterable[str]) -> None:
        """Prints the verdicts, and these lines below them."""
        console = report_console()
        try:
            console.print()
            print_report(self.verdicts, console)
            for line in lines:
                console.print(line, soft_wrap=True, markup=False)
        except OSError as fault:
            self.lost.append(f"standard output: saw {fault.strerror}, want the report shown")
            click.echo(self.lost[-1], err=True)


def report_console() -> Console:
    """Standard output, which a character that its encoding lacks does not stop.

    With pyinfra's ``--json`` it is standard error: the other is for programs.
    """
    stream = sys.stderr if "--json" in sys.argv else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False)
