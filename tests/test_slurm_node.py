"""What is done with a node that Slurm gives work to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pyinfra_nvml.audit.record import RecordedAudit, RecordedVerdict
from pyinfra_nvml.drift.results import Results
from pyinfra_nvml.drift.slurm_health import main, node_status
from pyinfra_nvml.drift.slurm_node import (
    Act,
    Decision,
    SlurmNode,
    decision,
    reason_of,
    slurm_node,
)
from pyinfra_nvml.model.finding import Area, Finding, Level, Status, result
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

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
TIME = NOW.isoformat()


def audit(*nodes: str, level: str) -> dict[str, object]:
    """The audit of nodes, each with one finding of this level, or none."""
    said = ("container x", "refused", "reachable", "its rule is gone", Repair.NONE, "x")
    found = result("device-loss", Area.DEVICES, [Finding(Level(level), *said)] if level else [])
    return RecordedAudit(NOW, tuple(RecordedVerdict(node, (found,)) for node in nodes)).to_json()


@pytest.mark.parametrize(
    ("drift", "document", "told"),
    [
        (None, None, "saw no run yet, want one: run once without --last"),
        ({"version": 2}, {"version": 1}, "drift.json: saw version 2, want 1, "),
        ({"version": 1}, {"version": 2}, "audit.json: saw version 2, want 1, "),
        (
            {"version": 1},
            {"version": 1, "time": TIME, "nodes": [{}]},
            "saw no 'node' in nodes[0]",
        ),
    ],
)
def test_results_that_cannot_be_read_are_unknown(
    tmp_path: Path, drift: dict[str, object] | None, document: dict[str, object], told: str
) -> None:
    if drift:
        stamps = dict.fromkeys(("started", "ended", "results"), NOW.isoformat())
        (tmp_path / "drift.json").write_text(json.dumps({**drift, **stamps}))
        (tmp_path / "audit.json").write_text(json.dumps(document))
    status, summary = node_status(Results(tmp_path), "broken", NOW)
    assert status is Status.UNKNOWN
    assert told in summary


@pytest.mark.parametrize(
    ("nodes", "inventory", "told"),
    [
        (1, "/etc/pyinfra-nvml/inventory.py", ""),
        (2, "/etc/pyinfra-nvml/inventory.py", "saw 2 nodes in the last results, want this one alo"),
        (0, "/etc/pyinfra-nvml/inventory.py", "saw 0 nodes in the last results, want this one alo"),
        (1, "/root/fleet.py", "the last results are of /root/fleet.py, want those of /etc/pyinfra"),
    ],
)
def test_no_node_is_drained_for_the_fault_of_another(
    tmp_path: Path, nodes: int, inventory: str, told: str
) -> None:
    stamps = dict.fromkeys(("started", "ended", "results"), NOW.isoformat())
    drift = {"version": 1, "inventory": inventory, **stamps}
    (tmp_path / "drift.json").write_text(json.dumps(drift))
    names = [f"gpu-0{number}" for number in range(nodes)]
    (tmp_path / "audit.json").write_text(json.dumps(audit(*names, level="broken")))
    own = "/etc/pyinfra-nvml/inventory.py"
    status, summary = node_status(Results(tmp_path), "broken", NOW, own)
    assert status is (Status.UNKNOWN if told else Status.FOUND)
    assert summary.startswith(told)


@pytest.fixture
def checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[SlurmNode, str], list[str]]:
    """What the health check of a node says and asks of scontrol, by its state and its level."""
    place, asked = tmp_path / "results", tmp_path / "asked"
    place.mkdir()
    shown_now = tmp_path / "shown"
    program = tmp_path / "scontrol"
    program.write_text(f'#!/bin/sh\necho "$*" >>{asked}\n[ "$1" = update ] || cat {shown_now}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    now = datetime.now(timezone.utc).isoformat()
    stamps = dict.fromkeys(("started", "ended", "results"), now)
    (place / "drift.json").write_text(json.dumps({"version": 1, **stamps}))

    def check(node: SlurmNode, level: str) -> list[str]:
        (place / "audit.json").write_text(json.dumps(audit("@local", level=level)))
        reason = f"   Reason={node.reason}\n" if node.reason else ""
        shown_now.write_text(SHOWN.format(state="+".join(sorted(node.states)), reason=reason))
        monkeypatch.setattr("sys.argv", ["slurm_health", str(place), "--node", "gpu-01"])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        updates = [line for line in asked.read_text().splitlines() if line.startswith("update")]
        return [*capsys.readouterr().out.splitlines(), *updates]

    return check


def test_a_broken_node_is_drained_once_the_reason_is_noted(
    checked: Callable[[SlurmNode, str], list[str]], tmp_path: Path
) -> None:
    reason = "pyinfra-nvml: broken: container x: refused [device-loss]"
    _, update = checked(IDLE, "broken")
    assert update == f"update NodeName=gpu-01 State=DRAIN Reason={reason}"
    assert json.loads((tmp_path / "results" / "slurm.json").read_text())["reason"] == reason


def test_a_record_that_cannot_be_read_resumes_nothing(
    checked: Callable[[SlurmNode, str], list[str]], tmp_path: Path
) -> None:
    drained = SlurmNode(DRAINED, OURS)
    record = tmp_path / "results" / "slurm.json"
    for content in ("{", "[]", '{"reason": 7}'):
        record.write_text(content)
        (line,) = checked(drained, "")
        assert line.startswith("gpu-01: leave: ")
    record.write_text(json.dumps({"version": 1, "reason": OURS}))
    assert "update NodeName=gpu-01 State=UNDRAIN" in checked(drained, "")


def test_a_reason_that_cannot_be_noted_drains_nothing(
    checked: Callable[[SlurmNode, str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "results" / "slurm.json").mkdir()
    (line,) = checked(IDLE, "broken")
    assert line.endswith("slurm.json: saw Is a directory, want the reason noted before a drain")
