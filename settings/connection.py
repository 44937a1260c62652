"""The setting of pyinfra that is looked at here: what else it is given, it looks at itself."""

from __future__ import annotations

from pydantic import Field

from pyinfra_nvml.settings.declaration import Declared
from pyinfra_nvml.settings.field_types import Timeout


class ConnectionSettings(Declared):
    """How long a node is waited for; pyinfra hands it to gevent, which ends a run for any word."""

    timeout: Timeout = Field(
        default=60,
        alias="_timeout",
        description="Seconds after which a command on a node is given up; the node script ends "
        "within 23 s.",
    )
