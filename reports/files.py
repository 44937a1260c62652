"""The reports of one run as files on this machine, each where a setting says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pyinfra_nvml.audit.atomic_file import write_atomically
from pyinfra_nvml.audit.document import Run, record_audit
from pyinfra_nvml.audit.json_file import write_json
from pyinfra_nvml.audit.record import RecordedAudit
from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.reports.junit import junit
from pyinfra_nvml.reports.markdown import markdown
from pyinfra_nvml.reports.page import page
from pyinfra_nvml.settings.models import Settings


def write_reports(
    settings: Settings,
    verdicts: Sequence[Verdict],
    at: datetime,
    run: Run,
    recorded: Callable[[], RecordedAudit] | None = None,
) -> Iterator[Path | Unknown]:
    """Writes every report that was asked for; yields each path once it is in place, or why not.

    ``recorded`` gives the audit of this run to who has a use for it beside its file.

    A disk that is full takes one report, not those after it, nor what the terminal shows; no more
    does a form that stumbles over what a node said.
    """
    whole = recorded or (lambda: record_audit(verdicts, at, run))
    forms: dict[str, Callable[[Path], None]] = {
        "report_json": lambda path: write_json(path, whole().to_json()),
        "report_html": lambda path: write_atomically(path, page(verdicts, at, run)),
        "report_junit": lambda path: write_atomically(
            path, junit(verdicts, at, settings.level, run)
        ),
        "report_markdown": lambda path: write_atomically(path, markdown(verdicts, at, run)),
    }
    for name, written in forms.items():
        path: Path | None = getattr(settings, name)
        if path is None:
            continue
        try:
            written(path)
            yield path
        except OSError as fault:
            yield Unknown(f"{name} {path}: saw {fault.strerror or fault}, want a file to write")
        except Exception as fault:  # noqa: BLE001 - one form's surprise must not take the others
            yield Unknown(f"{name} {path}: not written: {type(fault).__name__}: {fault}")
