"""The settings of a change to many nodes: which go first, how many at once, when to stop."""

from __future__ import annotations

from pydantic import Field

from pyinfra_nvml.settings.declaration import Declared
from pyinfra_nvml.settings.field_types import Hosts, Share


class FleetSettings(Declared):
    """The order in which the hosts of a run are changed."""

    canary: Hosts = Field(
        default=1,
        description="A fleet is changed in groups, one after the other, in the order of the "
        "inventory. The canary goes first: how many of the first hosts, or the names of some. This "
        "and the next three hold for a whole run: set them here or with --data, not for a group "
        "or a host.",
    )
    batch_size: int = Field(
        default=10, ge=1, description="How many hosts make a batch; they are changed at once."
    )
    max_failures: int = Field(
        default=0,
        ge=0,
        description="How many hosts of a batch may fail before the rest is left alone. Of the "
        "canary none may.",
    )
    max_unavailable: Share = Field(
        default=None,
        description="The most nodes out of service at once: a number, or a share of the run like "
        '"25%". None: no limit. No batch is larger. Hosts that failed count as out of service.',
    )
