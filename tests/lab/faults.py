"""Runs every injected fault on real nodes and writes what came of it to docs/faults.md.

.venv/bin/python -m tests.lab.faults
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "faults.md"

KEPT = "refused or failed before the rename; the file as it was, the engine untouched"
UNDONE = "the old file back, the engine up with it, containers running, both reasons told"
ENDED = "the restart ends by itself; a second run finds nothing to do"
CONVERGES = "a second run converges: cured, every container running"

# Test (and its case) to the fault that it injects, and what is wanted of it.
FAULTS: dict[str, tuple[str, str]] = {
    "test_write.py::test_refused/trailing_comma": ("daemon.json with a trailing comma", KEPT),
    "test_write.py::test_refused/duplicate": ("daemon.json with a key twice", KEPT),
    "test_write.py::test_refused/two_objects": ("daemon.json with two objects", KEPT),
    "test_write.py::test_refused/long": ("daemon.json of 5 MB", KEPT),
    "test_write.py::test_refused/hosts": ("`hosts` beside `-H fd://`", KEPT),
    "test_write.py::test_refused/latin_1": ("daemon.json not in UTF-8", KEPT),
    "test_write.py::test_only_the_entry_changes/empty": ("daemon.json of 0 bytes", "a whole file"),
    "test_write.py::test_only_the_entry_changes/bom_and_crlf": (
        "daemon.json with BOM and CRLF",
        "both kept, only the entry changes",
    ),
    "test_write.py::test_only_the_entry_changes/unknown_driver": (
        "an unknown driver in daemon.json",
        "replaced by the wanted one",
    ),
    "test_write.py::test_a_link_is_followed_and_kept": (
        "daemon.json a symbolic link",
        "its target changes, the link stays",
    ),
    "test_write.py::test_a_directory_is_refused": ("daemon.json a directory", KEPT),
    "test_write.py::test_a_full_disk": ("file system full at the write", KEPT),
    "test_write.py::test_a_read_only_disk": ("read-only /etc", KEPT),
    "test_write.py::test_mode_owner_attributes_and_acl_are_kept": (
        "extended attributes and an ACL on daemon.json",
        "kept, with mode and owner",
    ),
    "test_write.py::test_two_runs_at_once": (
        "a second write at the same time",
        "one of them wins whole",
    ),
    "test_write.py::test_nothing_is_readable_for_others": (
        "another user looks on",
        "no content in a place or argument list that he can read",
    ),
    "test_restart.py::test_killed_after_the_write": (
        "controller killed after the write",
        CONVERGES,
    ),
    "test_restart.py::test_killed_during_the_restart": (
        "controller killed during the restart",
        ENDED,
    ),
    "test_restart.py::test_the_wire_cut_during_the_restart": (
        "connection cut during the restart",
        ENDED,
    ),
    "test_restart.py::test_the_transaction_killed": ("the transaction itself killed", CONVERGES),
    "test_restart.py::test_booted_between_write_and_restart": (
        "node booted between write and restart",
        CONVERGES,
    ),
    "test_restart.py::test_booted_during_the_restart": (
        "node booted during the restart",
        CONVERGES,
    ),
    "test_restart_engine.py::test_a_file_broken_since_the_start": (
        "daemon.json broken since the engine's start",
        "no restart: the engine stays up",
    ),
    "test_restart_engine.py::test_stopped_on_purpose": (
        "an engine stopped on purpose",
        "left stopped; its next start reads the file",
    ),
    "test_restart_engine.py::test_an_engine_of_no_unit_is_left_alone": (
        "a dockerd that no unit started",
        "left alone",
    ),
    "test_restart_engine.py::test_a_dockerd_that_will_not_start": (
        "a dockerd that will not start with the new file",
        UNDONE,
    ),
    "test_restart_engine.py::test_a_dockerd_that_will_not_start_after_a_boot": (
        "the same, found after a boot",
        UNDONE,
    ),
    "test_restart_engine.py::test_a_dockerd_that_keeps_the_driver": (
        "a dockerd that starts and keeps the old driver",
        UNDONE,
    ),
    "test_restart_engine.py::test_a_dockerd_that_dies_after_its_first_answer": (
        "a dockerd that is not there, and one that dies after its first answer",
        UNDONE,
    ),
    "test_restart_engine.py::test_a_start_limit_used_up": ("start limit already used up", "cured"),
    "test_restart_engine.py::test_a_stop_that_takes_its_time": (
        "a dockerd that takes 60 s to stop",
        "waited for, then cured",
    ),
    "test_restart.py::test_a_container_that_does_not_come_back": (
        "a container that does not come back",
        "named, the host fails, the engine cured",
    ),
    "test_restart.py::test_two_runs_at_once": (
        "a second run at the same time",
        "one waits, both agree",
    ),
    "test_restart.py::test_live_restore_keeps_what_runs": (
        "live-restore on",
        "containers keep running, the engine has the driver",
    ),
    "test_live_restore.py::test_left_behind_named_then_restarted": (
        "containers left behind by live-restore",
        "named; restarted one by one where asked, each proven",
    ),
    "test_fleet.py::test_a_failed_canary_leaves_the_rest_alone": (
        "a canary whose engine will not start",
        "undone; no other host touched",
    ),
    "test_fleet.py::test_a_failure_allowed_and_a_host_that_is_not_there": (
        "an unreachable host, and one failure that is allowed",
        "the others cured, both reported",
    ),
    "test_fleet.py::test_a_canary_that_refuses_proves_nothing": (
        "a canary that is refused",
        "no other host touched",
    ),
    "test_turn.py::test_what_began_since_the_first_look_is_seen": (
        "a container with --rm that starts after the plan, before its node's turn",
        "refused at its turn; the canary, whose unit makes its container anew, proven",
    ),
    "test_engine_asked.py::test_a_stopped_engine_stays_stopped": (
        "an engine that its socket would start",
        "not asked, not started; refused with what to do",
    ),
    "test_engine_asked.py::test_a_directory_of_the_system_is_not_taken": (
        "a state directory that is the system's",
        "refused, its mode as it was",
    ),
    "test_restore.py::test_a_file_changed_since_is_left_alone": (
        "a restore of a file that was changed since",
        KEPT,
    ),
}


OUTCOMES: dict[str, tuple[str, str]] = {}
"""Test id to the fault's key and how the test ended."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests that inject a fault."""
    items[:] = [item for item in items if key_of(item.nodeid) in FAULTS]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes how each ended; its set-up and its clean-up count too."""
    if report.when == "call" or report.outcome != "passed":
        OUTCOMES[report.nodeid] = (key_of(report.nodeid), report.outcome)


def key_of(node_id: str) -> str:
    """The key of a test in the table: file, function and, where the table has it, its case."""
    place, _, parameters = node_id.partition("[")
    name = place.rpartition("/")[2]
    words = parameters.rpartition("]")[0].split("-")
    cases = [f"{name}/{word}" for word in words]
    return next((case for case in cases if case in FAULTS), name)


def page(ended: dict[str, tuple[str, str]]) -> str:
    """The table, a line for each fault and node, with the count at the end."""
    rows = ["| fault | on | wanted | as wanted |", "| --- | --- | --- | --- |"]
    wrong = 0
    for node_id, (name, outcome) in ended.items():
        fault, wanted = FAULTS[name]
        nodes = ("trixie", "bookworm", "forky")
        on = next((node for node in nodes if node in node_id.partition("[")[2]), "trixie")
        wrong += outcome != "passed"
        rows.append(f"| {fault} | {on} | {wanted} | {'yes' if outcome == 'passed' else 'NO'} |")
    head = (
        "# Faults, injected on real nodes\n\nWhat was tried to break a change, and what came of it."
        " Made by `make faults`. After each fault: the engine is up, or was never touched; no key"
        " of daemon.json is lost; every container that should run does; no temporary file is left;"
        " the report tells the truth; a plain second run converges.\n\n"
    )
    return head + "\n".join(rows) + f"\n\nfaults: {len(ended)}, not as wanted: {wrong}\n"


def main() -> int:
    words = ["-q", "-n", "4", "--dist", "loadfile", "-p", "tests.lab.faults", str(HERE)]
    code = pytest.main(words)
    # The plugin is this file under its own name; what runs as __main__ is another copy of it.
    ended = dict(sorted(importlib.import_module("tests.lab.faults").OUTCOMES.items()))
    missing = set(FAULTS) - {name for name, _ in ended.values()}
    for name in sorted(missing):
        print(f"fault {name}: saw no test of it, want one", file=sys.stderr)
    PAGE.write_text(page(ended))
    return 1 if missing else int(code)


if __name__ == "__main__":
    sys.exit(main())
