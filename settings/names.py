"""The names that data on the command line may have; a misspelt one is told the nearest."""

from __future__ import annotations

from pyinfra.api import Inventory
from pyinfra.api.arguments import all_argument_meta
from pyinfra.api.connectors import get_all_connectors

from pyinfra_nvml.settings.models import every_setting
from pyinfra_nvml.settings.wrong import unknown_setting


def unknown_to(inventory: Inventory) -> tuple[str, ...]:
    """A refusal for each name on the command line that nobody reads.

    Known are the settings, pyinfra's own names, and all that the inventory gives to its hosts.
    """
    names = {*every_setting(), *all_argument_meta, *given_by(inventory)}
    for connector in get_all_connectors().values():
        names.update(getattr(connector, "data_meta", ()))
    return tuple(
        unknown_setting(name, names).told("--data")
        for name in inventory.override_data
        if name not in names
    )


def given_by(inventory: Inventory) -> set[str]:
    """Every name that the inventory itself gives to a group or a host of its own."""
    names = set(inventory.data)
    for data in (*inventory.group_data.values(), *inventory.host_data.values()):
        names.update(data)
    return names
