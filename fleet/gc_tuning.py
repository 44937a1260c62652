"""How often Python looks for garbage while a fleet is asked."""

from __future__ import annotations

import gc

_NEW = 50_000
"""New objects between two looks; Python's own is 700, 2,000 from 3.13 (``gc.get_threshold``)."""


def tune_gc() -> None:
    """Leaves alone what there is now, and looks at what comes after it more rarely.

    What is imported by now stays until the end. Hundreds of connections make objects enough for
    thousands of looks, a fifth of the controller's CPU (docs/performance.md). Once a process: what
    is left alone is never freed, and a process may have many sessions.
    """
    if gc.get_threshold()[0] != _NEW:
        gc.freeze()
        gc.set_threshold(_NEW)
