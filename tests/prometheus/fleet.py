"""A recorded fleet as the command leaves it in its results directory."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from functools import cache
from typing import Any

from pyinfra_nvml.audit.document import record_audit
from pyinfra_nvml.audit.record import parse_audit
from pyinfra_nvml.audit.run_record import parse_run
from pyinfra_nvml.audit.verdict import Verdict, unreached, verdict
from pyinfra_nvml.reports import textfile
from tests import recordings

AT = datetime(2020, 11, 30, 12, tzinfo=timezone.utc)
"""Long ago by any clock: what is overdue stays so."""
NODES = ("bookworm_lost", "gpu_good", "gpu_hung", "gpu_skew", "gpu_wsl", "trixie_no_root")
REASON = "driver: module 550.90.07, libnvidia-ml 550.107.02; want one version"


@cache
def recorded(name: str) -> Verdict:
    """The verdict on a recorded node."""
    return verdict(name, recordings.node(name), execs=1)


def audited(*names: str) -> dict[str, Any]:
    """The document of these recorded nodes as a program reads it, and of one that is away."""
    told = [recorded(name) for name in names]
    return read([*told, unreached("gpu-09", "could not be connected to")], AT)


def read(verdicts: list[Verdict], at: datetime) -> dict[str, Any]:
    """The document of these verdicts, as a program reads it."""
    said: dict[str, Any] = json.loads(json.dumps(record_audit(verdicts, at).to_json()))
    return said


def drifted(**more: object) -> dict[str, Any]:
    """A run's drift.json."""
    states = {name: {"status": "found", "level": None, "reboot": None} for name in NODES}
    states["gpu_skew"]["reboot"] = REASON
    states["gpu-09"] = {"status": "unknown", "level": None, "reboot": None}
    return {
        "version": 1,
        "started": "2020-11-30T12:00:00+00:00",
        "ended": "2020-11-30T12:00:09Z",
        "seconds": 9.25,
        "interval": 3600,
        "exit": 1,
        "reason": "",
        "accepted": None,
        "nodes": states,
        "changes": [],
        "waived": [],
        **more,
    }


def metrics(said: dict[str, Any] | None, drift: dict[str, Any], host: str | None = None) -> str:
    """The textfile of these documents, on the day of the fleet's audit."""
    audit = parse_audit(said, "audit.json") if said else None
    return textfile.textfile(audit, parse_run(drift, "drift.json"), host, AT.date())
