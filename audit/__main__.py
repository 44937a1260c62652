"""``python -m audit``: the console command."""

from audit.drift.command import main

main()
