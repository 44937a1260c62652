"""A fabric manager of the driver's version that runs, or none where there is no NVSwitch."""

from __future__ import annotations

from pyinfra_nvml.facts.fabric_manager import FabricManagerState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """Install, start or disable it, or the reboot that brings both."""
    driver, manager = context.node.nvidia_driver, context.node.fabric_manager
    if not isinstance(driver, NvidiaDriverState) or not isinstance(driver.loaded, str):
        return None
    text = f"install nvidia-fabricmanager of version {driver.loaded} and hold it with the driver"
    version = manager.version if isinstance(manager, FabricManagerState) else None
    if isinstance(version, str) and finding.target != "left over" and version != driver.loaded:
        if driver.library == version:
            text = "see driver-skew: the next boot brings both into step"
    elif finding.target == "left over":
        text = "systemctl disable --now nvidia-fabricmanager, or remove its package"
    elif isinstance(manager, FabricManagerState):
        text = "systemctl enable --now nvidia-fabricmanager; its journal says why it stopped"
    return Remedy("fabric-manager", Repair.MANUAL, text)
