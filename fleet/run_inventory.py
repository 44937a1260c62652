"""The inventory of this process's run, by its name: pyinfra keeps its hosts alone."""

from __future__ import annotations

import click

from pyinfra_nvml.audit.inventory_name import inventory_name

NAMED: dict[str, str] = {}
"""``{"inventory": "/home/kim/fleet/inventories/example.py"}``, or empty where nobody said."""


def set_inventory(given: str) -> None:
    """Sets the inventory of the run; a path is taken from the current directory."""
    NAMED["inventory"] = inventory_name(given)


def take_from_command_line() -> None:
    """Takes the inventory from pyinfra's command line, where that is being run.

    Only the greenlet that reads the inventory sees click's context: those of hosts do not.
    """
    context = click.get_current_context(silent=True)
    given = context.params.get("inventory") if context else None
    if isinstance(given, str):
        set_inventory(given)
