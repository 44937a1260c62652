"""What is done with a node that Slurm gives work to."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from audit.drift.results import Results
from audit.finding import Status
from audit.schedule.slurm_health import audited
from audit.schedule.slurm_node import Act, Decision, SlurmNode, decision, reason_of, slurm_node
from facts.unknown import Unknown

# Seen on Debian 12, Slurm 22.05.8, lab; the comment is what an operator might leave.
SHOWN = """\
NodeName=gpu-01 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=1 CPUTot=1 CPULoad=3.03
   RealMemory=1 AllocMem=0 FreeMem=21178 Sockets=1 Boards=1
   State={state} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=all
{reason}   Comment=a Reason=pyinfra-nvml: x [root@2026-01-01T00:00:00]

"""
SUMMARY = "broken: container trainer: /dev/nvidiactl refused (EPERM) [device-loss]; 1 more"
OURS = reason_of(SUMMARY)
OTHER = "it's [a] = b, Reason=c \"q"
IDLE = SlurmNode(frozenset({"IDLE"}), "")
DRAINED = frozenset({"IDLE", "DRAIN"})


def shown(state: str, reason: str = "") -> SlurmNode | Unknown:
    line = f"   Reason={reason} [root@2026-11-30T13:16:05]\n" if reason else ""
    return slurm_node(SHOWN.format(state=state, reason=line))


def test_what_scontrol_shows() -> None:
    assert shown("IDLE") == IDLE
    assert shown("IDLE+DRAIN", OURS) == SlurmNode(DRAINED, OURS)
    assert shown("IDLE+DRAIN", OTHER) == SlurmNode(DRAINED, OTHER)
    assert shown("DOWN*+DRAIN+NOT_RESPONDING", "bad") == SlurmNode(
        frozenset({"DOWN", "DRAIN", "NOT_RESPONDING"}), "bad"
    )
    assert shown("IDLE", "Not responding [slurm@2026-11-30T09:00:00]") == SlurmNode(
        frozenset({"IDLE"}), "Not responding [slurm@2026-11-30T09:00:00]"
    )
    assert isinstance(slurm_node("Node nosuch not found\n"), Unknown)


def test_a_reason_is_one_plain_line() -> None:
    assert f"pyinfra-nvml: {SUMMARY}" == OURS
    assert reason_of("\"a\"\n'b' \\ ü\x1b[31m") == "pyinfra-nvml: a b [31m"
    assert len(reason_of("x" * 5000)) == 200


@pytest.mark.parametrize(
    ("status", "now", "ours", "act"),
    [
        (Status.FOUND, IDLE, None, Act.DRAIN),
        (Status.FOUND, SlurmNode(frozenset({"ALLOCATED"}), ""), None, Act.DRAIN),
        (Status.FOUND, SlurmNode(DRAINED, OURS), OURS, Act.LEAVE),
        (Status.FOUND, SlurmNode(DRAINED, OTHER), None, Act.LEAVE),
        (Status.FOUND, SlurmNode(DRAINED, OTHER), OURS, Act.LEAVE),
        (Status.FOUND, SlurmNode(frozenset({"DOWN"}), "Not responding"), None, Act.LEAVE),
        # Drained, then resumed by an operator while it is broken still.
        (Status.FOUND, IDLE, OURS, Act.DRAIN),
        (Status.OK, IDLE, None, Act.LEAVE),
        (Status.OK, SlurmNode(DRAINED, OURS), OURS, Act.RESUME),
        # Somebody wrote our words, or more behind them.
        (Status.OK, SlurmNode(DRAINED, OURS), None, Act.LEAVE),
        (Status.OK, SlurmNode(DRAINED, f"{OURS}; ask Kim"), OURS, Act.LEAVE),
        (Status.OK, SlurmNode(DRAINED, OTHER), OURS, Act.LEAVE),
        (Status.OK, SlurmNode(DRAINED | {"DOWN"}, OURS), OURS, Act.LEAVE),
        (Status.UNKNOWN, IDLE, None, Act.LEAVE),
        (Status.UNKNOWN, SlurmNode(DRAINED, OURS), OURS, Act.LEAVE),
    ],
)
def test_what_is_done(status: Status, now: SlurmNode, ours: str | None, act: Act) -> None:
    assert decision(status, SUMMARY, now, ours).act is act


def test_unknown_drains_where_it_was_asked_for() -> None:
    told = decision(Status.UNKNOWN, "the last results are 9000 s old", IDLE, None, True)
    reason = "pyinfra-nvml: the last results are 9000 s old"
    assert told == Decision(Act.DRAIN, "the last results are 9000 s old", reason)


NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("drift", "audit", "told"),
    [
        (None, None, "saw no run yet, want one: run once without --last"),
        ({"version": 2}, {"version": 1}, "drift.json: saw version 2, want 1, "),
        ({"version": 1}, {"version": 2}, "audit.json: saw version 2, want 1, "),
        ({"version": 1}, {"version": 1, "nodes": [{}]}, "saw no 'node' in it, want what this "),
    ],
)
def test_results_that_cannot_be_read_are_unknown(
    tmp_path: Path, drift: dict[str, object] | None, audit: dict[str, object], told: str
) -> None:
    if drift:
        stamps = dict.fromkeys(("started", "ended", "results"), NOW.isoformat())
        (tmp_path / "drift.json").write_text(json.dumps({**drift, **stamps}))
        (tmp_path / "audit.json").write_text(json.dumps(audit))
    status, summary = audited(Results(tmp_path), "broken", NOW)
    assert status is Status.UNKNOWN
    assert told in summary
