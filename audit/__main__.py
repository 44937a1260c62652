"""``python -m audit``: the console command."""

from audit.command import main

main()
