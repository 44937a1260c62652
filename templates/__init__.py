"""The text of a file from its template: under templates/, by its path on the node."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"

# The files are units, shell and Python, no HTML: nothing is to be escaped for a browser.
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701
)


def rendered(path: str, **values: object) -> str:
    """The file of this path on the node, from ``templates/PATH.j2``; a value not given raises."""
    return _ENVIRONMENT.get_template(f"{path.lstrip('/')}.j2").render(values)
