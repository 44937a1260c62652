"""Nodes that are to audit themselves, and a controller."""

from __future__ import annotations

from pyinfra_nvml.facts.interpreter import InterpreterState
from pyinfra_nvml.facts.scheduler import SchedulerState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.schedule import ScheduleSettings

SYSTEMD = SchedulerState(True, False, 3600, False, False, {}, {})
CRON = SchedulerState(False, True, None, False, False, {}, {})
PYTHON = InterpreterState(
    "/usr/bin/python3.11", (3, 11, 2), "CPython", "x86_64", 64, "glibc 2.36", True
)
OUT = Unknown("timed out")
NODE = ScheduleSettings()
CONTROLLER = ScheduleSettings(drift_mode="controller", drift_inventory="/etc/pyinfra-nvml/fleet.py")
