"""Slurm's HealthCheckProgram: drains a node for what its last audit found, resumes what it drained.

    python -m pyinfra_nvml.drift.slurm_health /var/lib/pyinfra-nvml-drift --level broken

slurmd runs it as root on its node, gives it 60 s, and does not look at its exit code
(slurm.conf(5), HealthCheckProgram). It asks no device: the timer of the audit did.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import syslog
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from pyinfra_nvml.audit.inventory_name import other_inventory
from pyinfra_nvml.audit.json_file import Unreadable, read_json, write_json
from pyinfra_nvml.audit.standing import exit_code, standings
from pyinfra_nvml.drift.results import Results, stale_reason
from pyinfra_nvml.drift.slurm_node import (
    Act,
    Decision,
    SlurmNode,
    decision,
    slurm_node,
)
from pyinfra_nvml.model.finding import Level, Status
from pyinfra_nvml.model.unknown import Unknown

_LIMIT = 15
"""Seconds for one scontrol; two of them end well within slurmd's 60."""
_STATUSES = (Status.OK, Status.FOUND, Status.UNKNOWN)


def main() -> None:
    """slurmd's health check (slurm.conf(5), ``HealthCheckProgram``): drains or resumes the node."""
    asked = _asked()
    results = Results(asked.results)
    name = asked.node or os.environ.get("SLURMD_NODENAME") or platform.node().partition(".")[0]
    status, summary = node_status(results, asked.level, datetime.now(timezone.utc), asked.inventory)
    now = _node(name)
    if isinstance(now, Unknown):
        done = Decision(Act.LEAVE, now.reason)
    else:
        done = decision(status, summary, now, _noted(results), asked.unknown == "drain")
        done = _do(done, name, results)
    _log(f"{name}: {done.act.value}: {done.why}")
    sys.exit(0)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pyinfra_nvml.drift.slurm_health")
    parser.add_argument("results", type=Path)
    parser.add_argument("--node", help="its name in slurm.conf")
    parser.add_argument("--inventory", help="the one whose results count")
    parser.add_argument("--level", choices=[level.value for level in Level], default="broken")
    parser.add_argument("--unknown", choices=["leave", "drain"], default="leave")
    return parser.parse_args()


def node_status(
    results: Results, level: str, now: datetime, inventory: str | None = None
) -> tuple[Status, str]:
    """How this node stands by the last results, and in one line why.

    Old results tell nothing, nor do those of another inventory or of several nodes, which a run by
    hand may have left: no node is drained for the fault of another.
    """
    try:
        last, today = results.last(), results.last_audit()
    except Unreadable as reason:
        return Status.UNKNOWN, str(reason)
    if inventory and (other := other_inventory(last.inventory, inventory)):
        return Status.UNKNOWN, other
    if reason_old := stale_reason(last, results.running(), None, now):
        return Status.UNKNOWN, reason_old
    found = standings(today.nodes, level, now.date())
    if len(found) != 1:
        saw = f"saw {len(found)} nodes in the last results"
        return Status.UNKNOWN, f"{saw}, want this one alone"
    return _STATUSES[exit_code(found)], found[0].summary


def _node(name: str) -> SlurmNode | Unknown:
    said = _scontrol("show", "node", name)
    return said if isinstance(said, Unknown) else slurm_node(said)


def _ours(results: Results) -> Path:
    return results.place / "slurm.json"


def _noted(results: Results) -> str | None:
    """The reason of our last drain; a record that cannot be read says none."""
    try:
        reason = read_json(_ours(results)).get("reason")
    except Unreadable:
        return None
    return reason if isinstance(reason, str) else None


def _do(wanted: Decision, name: str, results: Results) -> Decision:
    """Acts; our own reason is noted before the drain, so that a run that died is not forgotten."""
    if wanted.act is Act.LEAVE:
        return wanted
    words = ["update", f"NodeName={name}"]
    if wanted.act is Act.DRAIN:
        try:
            write_json(_ours(results), {"version": 1, "reason": wanted.reason})
        except OSError as fault:
            saw = f"{_ours(results)}: saw {fault.strerror}, want the reason noted before a drain"
            return Decision(Act.LEAVE, saw)
        words += ["State=DRAIN", f"Reason={wanted.reason}"]
    else:
        words += ["State=UNDRAIN"]
    said = _scontrol(*words)
    # Slurm 22.05 ends with 1 for an UNDRAIN that it did, where the node has not answered yet.
    now = _node(name)
    if isinstance(now, Unknown) or now.drained != (wanted.act is Act.DRAIN):
        why = said if isinstance(said, Unknown) else now
        told = why.reason if isinstance(why, Unknown) else "scontrol said nothing"
        return Decision(Act.LEAVE, f"wanted {wanted.act.value}, slurmctld did not: {told}")
    if wanted.act is Act.RESUME:
        with suppress(OSError):
            _ours(results).unlink()
    return wanted


def _scontrol(*words: str) -> str | Unknown:
    try:
        done = subprocess.run(
            ["scontrol", *words], capture_output=True, text=True, timeout=_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return Unknown(f"scontrol {words[0]}: {fault}")
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[:200]
        return Unknown(f"scontrol {words[0]}: exit {done.returncode}: {said}")
    return done.stdout


def _log(line: str) -> None:
    print(line)
    syslog.openlog("pyinfra-nvml-health")
    syslog.syslog(syslog.LOG_NOTICE, line)


if __name__ == "__main__":
    main()
