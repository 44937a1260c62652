"""The nvidia module loaded: taken from nouveau, or by modprobe, whose answer names the reason."""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import on_host
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:  # noqa: ARG001
    """What keeps the module out; in a guest its host loads it."""
    driver = context.node.nvidia_driver
    devices = driver.devices if isinstance(driver, NvidiaDriverState) else Unknown("no driver")
    gpus = () if isinstance(devices, Unknown) else devices.gpus
    text = (
        "modprobe nvidia; its answer and dmesg name the reason (Secure Boot: the key was rejected)"
    )
    if any(gpu.driver == "nouveau" for gpu in gpus):
        text = "keep nouveau from loading (modprobe.d, then a new initramfs), and reboot"
    return Remedy("load-module", Repair.MANUAL, f"{on_host(context.node)}{text}")
