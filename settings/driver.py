"""The settings of deploys/fix_driver.py: updates of the driver, and reboots."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pyinfra_nvml.settings.declaration import Declared, Expected
from pyinfra_nvml.settings.field_types import NodePath, OneOf


class DriverSettings(Declared):
    """What deploys/fix_driver.py may do to a node."""

    reboot_sentinel: NodePath = Field(
        default="/run/reboot-required",
        description="The file on a node that says that it waits for a reboot, and why. kured and "
        "Ubuntu's login message read this one. kured reboots nodes that have it: name another "
        "file if that is not wanted.",
    )
    hold_driver: Annotated[str, OneOf("packages", "blacklist", "release", "leave")] = Field(
        default="packages",
        description='What deploys/fix_driver.py does about updates of the driver: "packages" '
        '(apt-mark hold, dnf versionlock, zypper addlock), "blacklist" (unattended-upgrades leaves '
        'them out), "release" (release what it held itself), "leave" (touch no hold).',
    )
    reboot: bool = Field(
        default=False,
        description="True: deploys/fix_driver.py reboots the nodes whose driver a reboot puts "
        "right.",
    )
    reboot_timeout: Annotated[int, Expected("a number of seconds from 30")] = Field(
        default=900,
        ge=30,
        description="Seconds that a node may take to come back. Servers with eight GPUs may need "
        "ten minutes.",
    )
