"""One run of the drift check: audit under the lock, then write what it comes to."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from audit import json_file
from audit.drift.command_line import Options
from audit.drift.exit_scheme import CLEAN, UNKNOWN, USAGE
from audit.drift.inventory_name import inventory_name
from audit.drift.results import Results, Stopped, stamp
from audit.drift.run_of_pyinfra import NOT_ALL_WRITTEN, Asked, audit
from audit.drift.summary import Judged, judged
from audit.metrics import textfile as metrics


def run(chosen: Options, results: Results) -> Judged:
    """Runs the audit; a run that gave nothing leaves the last results and says why."""
    with results.held() as lock:
        started, clock = datetime.now(timezone.utc), time.monotonic()
        before = results.begin(started)
        code, reason = _audited(chosen, results, lock)
        outcome = _judged(chosen, results, code, reason)
        document = {
            **outcome.document,
            "inventory": inventory_name(chosen.inventory)
            if outcome.audited
            else before["inventory"],
            "started": stamp(started),
            "ended": stamp(datetime.now(timezone.utc)),
            "seconds": round(time.monotonic() - clock, 1),
            "interval": chosen.interval,
        }
        json_file.write(results.drift, document)
        if chosen.textfile:
            # Of a document that says nothing there is nothing to count.
            today = _last_audit(results) if document["results"] else None
            metrics.write(chosen.textfile, metrics.text(today or {}, document))
    return outcome


def _audited(chosen: Options, results: Results, lock: int) -> tuple[int, str]:
    """The plain exit code of a run that gave nothing, and why.

    0 where it gave a document; the reason is then what it could not write beside it.
    """
    asked = Asked(chosen.inventory, chosen.limits, chosen.data)
    try:
        ended = audit(asked, results, lock, chosen.time_limit)
    except (Stopped, KeyboardInterrupt):
        return UNKNOWN, "stopped before the audit ended"
    if ended is None:
        return UNKNOWN, f"not done after {chosen.time_limit:g} s, and ended (--time-limit)"
    said = results.report.read_text(errors="replace").strip()
    if ended == USAGE and said:
        return USAGE, said
    whole = ended in (CLEAN, NOT_ALL_WRITTEN)
    if not whole or not results.new.exists():
        return UNKNOWN, f"{said or f'pyinfra ended with {ended}'}; see {results.log}"
    results.new.replace(results.audit)
    return CLEAN, said.splitlines()[-1] if ended == NOT_ALL_WRITTEN else ""


def _judged(chosen: Options, results: Results, code: int, reason: str) -> Judged:
    outcome, trouble = _readable(chosen, results)
    if code:
        return replace(outcome, exit=code, reason=reason, audited=False)
    outcome = replace(outcome, report=_report(results, reason))
    if reason and outcome.exit == CLEAN:
        outcome = replace(outcome, exit=UNKNOWN, reason=reason)
    if trouble:
        return replace(outcome, exit=outcome.exit or UNKNOWN, reason=trouble)
    return outcome


def _readable(chosen: Options, results: Results) -> tuple[Judged, str]:
    """What the documents of the directory come to, and what is the matter with one of them.

    Where a run gave no audit, that of an earlier run may be the damaged one.
    """
    day, level = datetime.now(timezone.utc).date(), chosen.level
    today, trouble = _last_audit(results), ""
    try:
        return judged(today, results.earlier(chosen.inventory), level, day), ""
    except json_file.Unreadable as fault:
        trouble = str(fault)
    try:
        return judged(today, None, level, day), trouble
    except json_file.Unreadable as fault:
        return judged(None, None, level, day), str(fault)


def _last_audit(results: Results) -> dict[str, Any] | None:
    """The document of the last run that gave one, this or an earlier."""
    try:
        return results.last_audit()
    except json_file.Unreadable:
        return None


def _report(results: Results, reason: str) -> list[str]:
    """What pyinfra's run printed, without the place of its document, which has moved since.

    What it could not write stands there once already, without its last line.
    """
    text = results.report.read_text(errors="replace").strip("\n")
    return [line for line in text.splitlines() if line not in (f"written: {results.new}", reason)]
