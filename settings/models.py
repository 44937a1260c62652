"""Every setting that an inventory may have."""

from __future__ import annotations

from functools import cache

from pyinfra_nvml.settings.audit import AuditSettings
from pyinfra_nvml.settings.cluster import ClusterSettings
from pyinfra_nvml.settings.connection import ConnectionSettings
from pyinfra_nvml.settings.declaration import Declared
from pyinfra_nvml.settings.driver import DriverSettings
from pyinfra_nvml.settings.engine import EngineSettings
from pyinfra_nvml.settings.fleet import FleetSettings
from pyinfra_nvml.settings.mig_monitor import MonitorSettings
from pyinfra_nvml.settings.policy import Policy
from pyinfra_nvml.settings.schedule import ScheduleSettings

MODELS: tuple[type[Declared], ...] = (
    AuditSettings,
    ClusterSettings,
    EngineSettings,
    FleetSettings,
    DriverSettings,
    MonitorSettings,
    ScheduleSettings,
    ConnectionSettings,
)
"""By subject, in the order of docs/settings.md."""


class Settings(
    ConnectionSettings,
    DriverSettings,
    FleetSettings,
    EngineSettings,
    ClusterSettings,
    AuditSettings,
):
    """The settings that every deploy reads."""

    @property
    def policy(self) -> Policy:
        """What the checks judge by."""
        return Policy(mig_monitors=self.mig_monitors, overrule=self.overrule)


@cache
def every_setting() -> frozenset[str]:
    """The names of all settings of all deploys."""
    return frozenset(name for model in MODELS for name in model.names())
