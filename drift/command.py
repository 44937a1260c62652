"""The console command: audits an inventory, compares with the accepted state, tells a scheduler.

    python -m pyinfra_nvml.drift inventories/example.py --results results
    python -m pyinfra_nvml.drift inventories/example.py --results results --last

Exit code: 0 clean, 1 a finding at or above the level, 2 could not tell, 3 usage.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from fnmatch import fnmatch
from types import FrameType
from typing import NoReturn

from pyinfra_nvml.audit.inventory_name import other_inventory
from pyinfra_nvml.audit.json_file import Unreadable
from pyinfra_nvml.audit.record import RecordedVerdict
from pyinfra_nvml.drift import exit_scheme, results_text
from pyinfra_nvml.drift.command_line import Options, parse_options
from pyinfra_nvml.drift.exit_scheme import UNKNOWN, USAGE, Scheme
from pyinfra_nvml.drift.results import Busy, Results, Stopped, stale_reason
from pyinfra_nvml.drift.run import run_audit
from pyinfra_nvml.drift.summary import RunOutcome, judge_run
from pyinfra_nvml.model.printable import printable


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The command ``nvml-audit``; ends the process with the exit code of the scheme asked for."""
    chosen = parse_options(sys.argv[1:] if words is None else words)
    signal.signal(signal.SIGTERM, _stop)
    outcome = _shown(chosen, _outcome(chosen, Results(chosen.results)))
    sys.exit(exit_scheme.scheme_code(chosen.scheme, outcome.exit, outcome.standings))


def _stop(_: int, __: FrameType | None) -> None:
    raise Stopped


def _outcome(chosen: Options, results: Results) -> RunOutcome:
    try:
        return _last(chosen, results) if chosen.last else run_audit(chosen, results)
    except Busy:
        return RunOutcome(
            UNKNOWN, f"results {results.place}: saw another run write there, want its end"
        )
    except Unreadable as reason:
        return RunOutcome(UNKNOWN, str(reason))
    except (PermissionError, NotADirectoryError, FileExistsError) as fault:
        saw = f"saw {_words(fault)}, want a directory to write to"
        return RunOutcome(USAGE, f"results {results.place}: {saw}")
    except OSError as fault:
        return RunOutcome(
            UNKNOWN, f"results {results.place}: saw {_words(fault)}, want them written"
        )
    except (Stopped, KeyboardInterrupt):
        return RunOutcome(UNKNOWN, "stopped")
    except Exception as fault:  # noqa: BLE001 - Python would end with 1, which is a finding
        traceback.print_exc()
        return RunOutcome(UNKNOWN, f"saw {type(fault).__name__}: {fault}, want a run to its end")


def _words(fault: OSError) -> str:
    return f"{fault.strerror} ({fault.filename})" if fault.filename else str(fault.strerror)


def _shown(chosen: Options, outcome: RunOutcome) -> RunOutcome:
    """Prints the outcome; it is no other one where nobody reads (``| head``)."""
    try:
        _tell(chosen, outcome)
        sys.stdout.flush()
    except OSError as fault:
        # Else Python tries once more and ends with 120 (library reference, sys.exit).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(fault, BrokenPipeError):
            return outcome
        print(f"standard output: saw {fault.strerror}, want the report shown", file=sys.stderr)
        return replace(outcome, exit=outcome.exit or UNKNOWN)
    return outcome


def _last(chosen: Options, results: Results) -> RunOutcome:
    """The results already there, as they count today; too old ones tell nothing."""
    now = datetime.now(timezone.utc)
    last = results.last()
    if other := other_inventory(last.inventory, chosen.inventory):
        return RunOutcome(UNKNOWN, other)
    # Where no run gave an audit yet, drift.json has the reason.
    today = results.last_audit() if last.results or results.audit.exists() else None
    if today and chosen.limits:
        today = replace(today, limited=True, nodes=_within(today.nodes, chosen.limits))
        if not today.nodes:
            saw = "saw no such node in the last results"
            return RunOutcome(USAGE, f"limit {', '.join(chosen.limits)}: {saw}, want one of them")
    outcome = judge_run(today, results.baseline(chosen.inventory), chosen.level, now.date())
    if reason := stale_reason(last, results.running(), chosen.interval, now):
        return replace(outcome, exit=UNKNOWN, reason=reason)
    return outcome


def _within(nodes: Sequence[RecordedVerdict], limits: Sequence[str]) -> tuple[RecordedVerdict, ...]:
    return tuple(node for node in nodes if any(fnmatch(node.node, limit) for limit in limits))


def _tell(chosen: Options, outcome: RunOutcome) -> None:
    if chosen.scheme is Scheme.PLAIN:
        if outcome.exit == USAGE:
            print("\n".join(map(printable, outcome.reason.splitlines())))
            return
        for text in (*outcome.report, *results_text.change_lines(outcome)):
            print(text)
    print(exit_scheme.status_line(chosen.scheme, outcome.exit, outcome.standings, outcome.reason))
