"""Run by pyinfra before it reads the inventory, for every command in this checkout."""

import click

from pyinfra_nvml.fleet.run_start import begin_run

begin_run(click.get_current_context().params)
