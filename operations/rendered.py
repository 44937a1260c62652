"""Files that are written on this machine, not on the node: what an operator applies elsewhere."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from pathlib import Path

from pyinfra.api import FunctionCommand, StringCommand
from pyinfra.api.operation import operation
from pyinfra.context import host

from audit.place import put
from operations import node


@operation()
def files(
    directory: str, texts: Mapping[str, str]
) -> Generator[FunctionCommand | StringCommand, None, None]:
    """
    The files of this directory, on the machine that runs pyinfra, hold these texts.

    + directory: where they go; it is made where it is not there
    + texts: each file's name with its text

    **Example:**

    .. code:: python

        rendered.files(directory="rendered", texts={"monitor.yaml": "kind: Pod"})
    """
    place = Path(directory)
    there = next(path for path in (place, *place.absolute().parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        yield node.refuse(f"{there}: saw no directory to write to, want one on this machine")
        return
    other = {name: text for name, text in texts.items() if _holds(place / name) != text}
    if not other:
        host.noop(f"{directory} holds what is wanted")
    for name, text in other.items():
        yield FunctionCommand(put, (place / name, text), {})


def _holds(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
