"""docs/settings.md and inventories/group_data/all.py, from the declarations in settings/."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from pyinfra_nvml.settings.models import MODELS

DEFAULTS = Path(__file__).resolve().parent.parent / "inventories" / "group_data" / "all.py"
PATH = Path(__file__).with_name("settings.md")

_BEGIN = "# From here on written by `make docs` from the declarations in settings/.\n"
_END = "# To here written by `make docs`.\n"

_HEAD = """\
# The settings

Ordinary pyinfra data. The defaults are in `inventories/group_data/all.py`. Set your own for all
hosts there, for a group in `inventories/group_data/GROUP.py`, for a host beside its name in the
inventory, for a single run on the command line: `--data batch_size=25`.

Misspelt names and values that a setting cannot have end the run before a host is connected to. They
are reported all at once, each with the place where it was given: `setting max_failures is 'lots'
(--data); expected a number from 0`, or `(group NAME)`, or `(host NAME and 2 more)`.

Where the text names None, the command line takes it too: `--data report_html=None`. Elsewhere None
stands for the default.

Written by `make docs` from the declarations in `settings/`; change it there.
"""


def page() -> str:
    """The text of docs/settings.md."""
    sections = [_section(name, _assigned(name, field), _sentence(field)) for name, field in _all()]
    return "\n".join([_HEAD, *sections, *_of_the_tail()])


def defaults() -> str:
    """The text of inventories/group_data/all.py: what is written by hand stays as it is."""
    head, _, rest = DEFAULTS.read_text().partition(_BEGIN)
    tail = rest.partition(_END)[2]
    written = [f"{_comment(field)}\n{_assigned(name, field)}\n" for name, field in _all()]
    return "\n".join([f"{head}{_BEGIN}", *written, f"{_END}{tail}"])


def _all() -> Iterator[tuple[str, FieldInfo]]:
    for model in MODELS:
        yield from zip(model.names(), model.model_fields.values(), strict=True)


def _section(name: str, assigned: str, sentence: str) -> str:
    text = textwrap.fill(sentence, 100, break_on_hyphens=False)
    return f"## {name}\n\n```python\n{assigned}\n```\n\n{text}\n"


def _sentence(field: FieldInfo) -> str:
    return field.description or ""


def _comment(field: FieldInfo) -> str:
    return textwrap.indent(textwrap.fill(_sentence(field), 98, break_on_hyphens=False), "# ")


def _assigned(name: str, field: FieldInfo) -> str:
    value = str(field.default) if isinstance(field.default, Path) else field.default
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    kind = ": tuple[object, ...]" if value == () else ""
    return f"{name}{kind} = {text}"


def _of_the_tail() -> Iterator[str]:
    """A section for each value written by hand below the others, with the comment above it."""
    for part in DEFAULTS.read_text().partition(_END)[2].strip().split("\n\n"):
        lines = part.splitlines()
        comment = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
        value = [line for line in lines if not line.startswith("# ")]
        yield _section(value[0].partition(" = ")[0], "\n".join(value), " ".join(comment))
