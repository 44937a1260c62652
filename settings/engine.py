"""The settings of what is changed on a node: Docker's cgroup driver, and what may stand against."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.settings.choices import DRIVERS
from pyinfra_nvml.settings.declaration import Declared
from pyinfra_nvml.settings.field_types import NodeDirectory, OneOf, Overruled


class EngineSettings(Declared):
    """What deploys/fix_cgroup.py does to a node's Docker."""

    cgroup_driver: Annotated[str, OneOf(*DRIVERS)] = Field(
        default="cgroupfs",
        description="The cgroup driver that deploys/fix_cgroup.py sets for Docker: "
        '"cgroupfs" or "systemd".',
    )
    only_exposed: bool = Field(
        default=False,
        description="True: fix only nodes where a container has lost a device, or will at the next "
        "trigger.",
    )
    enforce: bool = Field(
        default=False,
        description="True: bring Docker to that driver on nodes without a finding that asks for "
        "it, too.",
    )
    overrule: Overruled = Field(
        default=(),
        description="Refusals to ignore, by name: "
        + "; ".join(f'"{each.value}" ({each.sentence})' for each in Overrule)
        + ". Refusals that protect a host have no name.",
    )
    restart_exposed_containers: bool = Field(
        default=False,
        description="True: with live-restore on, restart the containers that are still exposed "
        "after the switch, one by one, and prove each. False: the run names them and fails.",
    )
    state_directory: NodeDirectory = Field(
        default="/var/lib/pyinfra-nvml",
        description="The directory on a node for the backups of daemon.json and the journal of "
        "what was done.",
    )
