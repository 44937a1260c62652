"""The deploy file of a run, made known to Python as a module."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType


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
