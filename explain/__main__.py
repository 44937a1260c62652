"""``python -m pyinfra_nvml.explain``: what a pasted text shows."""

import sys

from pyinfra_nvml.explain.command import main

sys.exit(main())
