"""What pyinfra's host data say of the settings of one subject."""

from __future__ import annotations

from pyinfra.api import Host

from pyinfra_nvml.settings.declaration import Declared

_ABSENT = object()


def given(host: Host, model: type[Declared]) -> dict[str, object]:
    """The values that an inventory or a command line gives to this host."""
    values = {name: host.data.get(name, _ABSENT) for name in model.names()}
    return {name: value for name, value in values.items() if value is not _ABSENT}
