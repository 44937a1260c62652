"""``python -m audit.explain``: what a pasted text shows."""

import sys

from audit.explain.command import main

sys.exit(main())
