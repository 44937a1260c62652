"""Files that are written on this machine, not on the node: what an operator applies elsewhere."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

from pyinfra.api import FunctionCommand
from pyinfra.api.operation import operation
from pyinfra.context import host

from pyinfra_nvml.audit.atomic_file import write_atomically


@operation()
def files(directory: str, texts: Mapping[str, str]) -> Generator[FunctionCommand, None, None]:
    """
    The files of this directory, on the machine that runs pyinfra, hold these texts.

    + directory: where they go; it is made where it is not there
    + texts: each file's name with its text

    **Example:**

    .. code:: python

        rendered.files(directory="rendered", texts={"monitor.yaml": "kind: Pod"})
    """
    place = Path(directory)
    other = {name: text for name, text in texts.items() if _holds(place / name) != text}
    if not other:
        host.noop(f"{directory} holds what is wanted")
    for name, text in other.items():
        yield FunctionCommand(write_atomically, (place / name, text), {})


def _holds(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
