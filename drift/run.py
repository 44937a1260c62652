"""One run of the drift check: audit under the lock, then write what it comes to."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pyinfra_nvml.audit.inventory_name import inventory_name
from pyinfra_nvml.audit.json_file import Unreadable, write_json
from pyinfra_nvml.audit.record import RecordedAudit
from pyinfra_nvml.audit.run_record import RunRecord
from pyinfra_nvml.drift.audit_process import NOT_ALL_WRITTEN, AuditRequest, run_pyinfra
from pyinfra_nvml.drift.command_line import Options
from pyinfra_nvml.drift.exit_scheme import CLEAN, UNKNOWN, USAGE
from pyinfra_nvml.drift.results import Results, Stopped
from pyinfra_nvml.drift.summary import RunOutcome, judge_run
from pyinfra_nvml.reports import textfile


def run_audit(chosen: Options, results: Results) -> RunOutcome:
    """Runs the audit; a run that gave nothing leaves the last results and says why."""
    with results.held() as lock:
        started, clock = datetime.now(timezone.utc), time.monotonic()
        before = results.begin(started)
        code, reason = _audited(chosen, results, lock)
        outcome = _judged(chosen, results, code, reason)
        record = replace(
            outcome.record,
            inventory=inventory_name(chosen.inventory) if outcome.audited else before.inventory,
            started=started,
            ended=datetime.now(timezone.utc),
            seconds=round(time.monotonic() - clock, 1),
            # A run by hand makes the next of a timer due no later.
            interval=chosen.interval or before.interval,
        )
        outcome = _kept(outcome, _counted(chosen, results, record))
        last = replace(record, exit=outcome.exit, reason=outcome.reason)
        return _kept(outcome, _put(results.drift, last))


def _counted(chosen: Options, results: Results, record: RunRecord) -> str:
    """Writes the metrics where they are asked for; says why it could not."""
    if not chosen.textfile:
        return ""
    # Of a document that says nothing there is nothing to count.
    today = _last_audit(results) if record.results else None
    try:
        textfile.write_textfile(chosen.textfile, textfile.textfile(today, record))
    except ValueError as fault:
        return str(fault)
    except OSError as fault:
        return f"textfile {chosen.textfile}: saw {fault.strerror}, want it written"
    return ""


def _put(path: Path, record: RunRecord) -> str:
    """Puts the record in place; says why it could not."""
    try:
        write_json(path, record.to_json())
    except OSError as fault:
        return f"{path}: saw {fault.strerror}, want it written"
    return ""


def _kept(outcome: RunOutcome, lost: str) -> RunOutcome:
    """What was found comes first, also where not all of it could be written."""
    if not lost:
        return outcome
    if outcome.exit == CLEAN:
        return replace(outcome, exit=UNKNOWN, reason=lost)
    return replace(outcome, report=(*outcome.report, lost))


def _audited(chosen: Options, results: Results, lock: int) -> tuple[int, str]:
    """The plain exit code of a run that gave nothing, and why.

    0 where it gave a document; the reason is then what it could not write beside it.
    """
    asked = AuditRequest(chosen.inventory, chosen.limits, chosen.data)
    try:
        ended = run_pyinfra(asked, results, lock, chosen.time_limit)
    except (Stopped, KeyboardInterrupt):
        return UNKNOWN, "stopped before the audit ended"
    if ended is None:
        return UNKNOWN, f"not done after {chosen.time_limit:g} s, and ended (--time-limit)"
    said = results.report.read_text(errors="replace").strip()
    if ended == USAGE and said:
        return USAGE, said
    last = said.splitlines()[-1] if said else ""
    if ended not in (CLEAN, NOT_ALL_WRITTEN) or not results.new.exists():
        why = last if ended == UNKNOWN and last else f"pyinfra ended {_how(ended)}"
        return UNKNOWN, f"{why}; see {results.log}"
    results.new.replace(results.audit)
    return CLEAN, last if ended == NOT_ALL_WRITTEN else ""


def _how(ended: int) -> str:
    """In words: a negative code is a signal's number (library reference, Popen.returncode)."""
    return f"by signal {-ended}" if ended < 0 else f"with {ended}"


def _judged(chosen: Options, results: Results, code: int, reason: str) -> RunOutcome:
    outcome, trouble = _readable(chosen, results)
    if code:
        return replace(outcome, exit=code, reason=reason, audited=False)
    outcome = replace(outcome, report=_report(results, reason))
    if reason and outcome.exit == CLEAN:
        outcome = replace(outcome, exit=UNKNOWN, reason=reason)
    if trouble:
        return replace(outcome, exit=outcome.exit or UNKNOWN, reason=trouble)
    return outcome


def _readable(chosen: Options, results: Results) -> tuple[RunOutcome, str]:
    """What the documents of the directory come to, and what is the matter with one of them.

    Where a run gave no audit, that of an earlier run may be the damaged one.
    """
    day, level = datetime.now(timezone.utc).date(), chosen.level
    baseline, trouble = results.baseline(chosen.inventory), ""
    today: RecordedAudit | None = None
    try:
        today = results.last_audit() if results.audit.exists() else None
    except Unreadable as fault:
        trouble = str(fault)
    return judge_run(today, baseline, level, day), trouble


def _last_audit(results: Results) -> RecordedAudit | None:
    """The document of the last run that gave one, this or an earlier."""
    try:
        return results.last_audit()
    except Unreadable:
        return None


def _report(results: Results, reason: str) -> list[str]:
    """What pyinfra's run printed, without the place of its document, which has moved since.

    What it could not write stands there once already, without its last line.
    """
    text = results.report.read_text(errors="replace").strip("\n")
    return [line for line in text.splitlines() if line not in (f"written: {results.new}", reason)]
