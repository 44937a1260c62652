"""What a knob's value may be: each function takes a knob's name and the value that was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from pyinfra_nvml.model.finding import Level
from pyinfra_nvml.model.refusal import OVERRULABLE
from pyinfra_nvml.settings.check_ids import check_ids
from pyinfra_nvml.settings.refused_knobs import RefusedKnobs, refused_knob
from pyinfra_nvml.settings.waivers import Waiver, waivers


def seconds(name: str, value: object) -> None:
    """pyinfra hands it to gevent as it is, which ends the whole run for what is no number."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 1:
        raise refused_knob(name, value, "seconds from 1")


def level(name: str, value: object) -> Level | None:
    """The level from which a finding counts; none: nothing counts."""
    text = one_of(*(level.value for level in Level), "none")(name, value)
    return None if text == "none" else Level(text)


def file(name: str, value: object) -> Path | None:
    """A file to write on this machine."""
    if value is not None and not isinstance(value, (str, Path)):
        raise refused_knob(name, value, "a file's path on this machine")
    if value and Path(value).is_dir():
        line = f"knob {name}: saw {str(value)!r}, a directory, want a file in it"
        raise RefusedKnobs((name, line))
    return Path(value) if value else None


def apart(files: Mapping[str, Path | None]) -> None:
    """Of two reports in one file the second would be all that is left."""
    whose: dict[Path, str] = {}
    for name, path in files.items():
        if path is None:
            continue
        if first := whose.get(place := _resolved(path)):
            line = f"knobs {first}, {name}: saw {str(path)!r} in both, want two files"
            raise RefusedKnobs((name, line))
        whose[place] = name


@cache
def _resolved(path: Path) -> Path:
    return path.resolve()


def one_of(*wanted: str) -> Callable[[str, object], str]:
    """One of these words."""

    def meant(name: str, value: object) -> str:
        text = value.value if isinstance(value, Level) else value
        if not isinstance(text, str) or text not in wanted:
            raise refused_knob(name, text, f"one of {', '.join(wanted)}")
        return text

    return meant


def flag(name: str, value: object) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise refused_knob(name, value, "true or false")
    return value


def overruled(name: str, value: object) -> tuple[str, ...]:
    """Refusals that are not to count."""
    names = value.split(",") if isinstance(value, str) else value or ()
    if not isinstance(names, (list, tuple)) or not set(names) <= set(OVERRULABLE):
        raise refused_knob(name, value, f"some of {', '.join(OVERRULABLE)}")
    return tuple(names)


def names(name: str, value: object) -> tuple[str, ...]:
    """Names or patterns of them."""
    given = (value,) if isinstance(value, str) else value
    if not isinstance(given, (list, tuple)) or not all(isinstance(text, str) for text in given):
        raise refused_knob(name, value, "a list of names")
    return tuple(given)


def waived(name: str, value: object) -> tuple[Waiver, ...]:
    """Findings that somebody answers for."""
    try:
        return waivers(value, check_ids())
    except ValueError as refusal:
        lines = str(refusal).splitlines()
        raise RefusedKnobs(*((name, f"knob {name}: {line}") for line in lines)) from None


def count(least: int, of: str = "a number") -> Callable[[str, object], int]:
    """A whole number, from this one on."""

    def meant(name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise refused_knob(name, value, f"{of} from {least}")
        return value

    return meant


def canary(name: str, value: object) -> int | tuple[str, ...]:
    """The hosts that go first: how many, or which."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    if isinstance(value, str) and value:
        return tuple(host.strip() for host in value.split(","))
    if isinstance(value, (list, tuple, str)):
        raise refused_knob(name, value, "a number or names of hosts")
    return count(least=0)(name, value)


def share(name: str, value: object) -> int | str | None:
    """A number of hosts, or a share of them."""
    if isinstance(value, str):
        if not (value.endswith("%") and value[:-1].isdecimal() and 1 <= int(value[:-1]) <= 100):
            raise refused_knob(name, value, "a number or 1% to 100%")
        return value
    return None if value is None else count(least=1)(name, value)


def word(name: str, value: object) -> str | None:
    """One name, or none."""
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise refused_knob(name, value, "a name, or None")
    return value


def file_here(name: str, value: object) -> Path | None:
    """A file of this machine; whether it is there is told with the rest of what it is for."""
    path = word(name, value)
    return Path(path).expanduser() if path else None


def own_directory(name: str, value: object) -> str:
    """A directory that may be given to root alone: none that the system shares."""
    place = path(name, value)
    if place.count("/") < 2 or ".." in place.split("/"):
        raise refused_knob(name, place, "a directory of its own below another")
    return place


def path(name: str, value: object) -> str:
    """A path on the node."""
    if not isinstance(value, str) or not value.startswith("/"):
        raise refused_knob(name, value, "an absolute path on the node")
    return value.rstrip("/") or "/"
