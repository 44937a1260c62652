"""What spares the controller's CPU: Python's garbage, pyinfra's order of operations."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import ModuleType

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


def register_deploy_file(path: str | None) -> None:
    """Lets ``inspect`` find the module of a file that pyinfra compiles and runs by itself.

    pyinfra puts operations in order by the call stack of each (3.10.0, api/util.py,
    ``get_operation_order_from_stack``), and inspect looks through every imported module for the
    one of a frame's file, again for each frame: a third of the CPU of a fix's dry run.
    """
    # inspect compares absolute paths, their links not followed (CPython, Lib/inspect.py).
    file = str(Path(path).absolute()) if path else None
    if file and file not in sys.modules:
        module = ModuleType(file)
        module.__file__ = file
        sys.modules[file] = module
