"""Nodes that are to audit themselves, and a controller."""

from __future__ import annotations

from audit.schedule.knobs import ScheduleKnobs
from facts.interpreter import PythonInterpreter
from facts.scheduler import SchedulerState
from facts.unknown import Unknown

SYSTEMD = SchedulerState(True, False, 3600, False, False, {}, {})
CRON = SchedulerState(False, True, None, False, False, {}, {})
PYTHON = PythonInterpreter(
    "/usr/bin/python3.11", (3, 11, 2), "CPython", "x86_64", 64, "glibc 2.36", True
)
OUT = Unknown("timed out")
NODE = ScheduleKnobs()
CONTROLLER = ScheduleKnobs(drift_mode="controller", drift_inventory="/etc/pyinfra-nvml/fleet.py")
