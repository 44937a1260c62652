"""``python -m pyinfra_nvml.drift``: the console command."""

from pyinfra_nvml.drift.command import main

main()
