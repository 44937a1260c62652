"""The types of settings: what each takes from an inventory, and what it makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from pyinfra_nvml.model.finding import Level
from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.settings.declaration import Expected


class OneOf(Expected):
    """Stands in a declaration: the value is one of these words."""

    def __init__(self, *words: str) -> None:
        super().__init__(f"one of {', '.join(words)}")
        self._words = words

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return BeforeValidator(self._word).__get_pydantic_core_schema__(source, handler)

    def _word(self, value: object) -> object:
        text = value.value if isinstance(value, Level) else value
        if text is not None and text not in self._words:
            raise ValueError
        return text


def _listed(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _report(value: object) -> object:
    if value == "":
        return None
    path = Path(value) if isinstance(value, str) else value
    if isinstance(path, Path) and path.is_dir():
        raise ValueError
    return path


def _overruled(value: object) -> object:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)):
        raise ValueError
    known = tuple(each for name in names for each in Overrule if each == name)
    if len(known) < len(names):
        raise ValueError
    return known


def _canary(value: object) -> object:
    if isinstance(value, str):
        value = [host.strip() for host in value.split(",")]
    if isinstance(value, (list, tuple)):
        if not value or "" in value:
            raise ValueError
        return tuple(value)
    return value


def _name(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise ValueError
    return value


def _file_here(value: object) -> object:
    return Path(value).expanduser() if isinstance(value, str) and value.strip() else value


def _path(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError
    return value.rstrip("/") or "/"


def _own_directory(value: str) -> str:
    path = _path(value)
    if path.count("/") < 2 or ".." in path.split("/"):
        raise ValueError
    return path


ReportFile = Annotated[
    Path | None,
    BeforeValidator(_report),
    Expected("the path of a file on this machine, not of a directory, or None"),
]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed), Expected("a list of names")]
OptionalName = Annotated[str | None, AfterValidator(_name), Expected("a name, or None")]
FileHere = Annotated[
    Path | None, BeforeValidator(_file_here), Expected("a file's path on this machine, or None")
]
NodePath = Annotated[str, AfterValidator(_path), Expected("an absolute path on the node")]
OWN_DIRECTORY = "an absolute path on the node, of a directory of its own below another"
NodeDirectory = Annotated[str, AfterValidator(_own_directory), Expected(OWN_DIRECTORY)]
Overruled = Annotated[
    tuple[Overrule, ...],
    BeforeValidator(_overruled),
    Expected(f"some of {', '.join(each.value for each in Overrule)}"),
]
Hosts = Annotated[
    Annotated[int, Field(ge=0)] | tuple[str, ...],
    BeforeValidator(_canary),
    Expected("a number from 0, or names of hosts"),
]
Share = Annotated[
    Annotated[int, Field(ge=1)] | Annotated[str, Field(pattern=r"^([1-9]\d?|100)%$")] | None,
    Expected("a number from 1, a share from 1% to 100%, or None"),
]
Timeout = Annotated[
    Annotated[float, Field(ge=1)] | None, Expected("a number of seconds from 1, or None")
]
