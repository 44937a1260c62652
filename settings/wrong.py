"""What is wrong with a setting, in one sentence that has room for the place where it stands."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from pyinfra.api.exceptions import DeployError


@dataclass(frozen=True)
class Wrong:
    """A setting that cannot be used: what was found, and what is expected instead.

    .. code:: python

        Wrong("batch_size", "setting batch_size is 0", "; expected a number from 1")
    """

    setting: str
    found: str
    rest: str

    def told(self, place: str = "") -> str:
        """The sentence: ``setting batch_size is 0 (--data); expected a number from 1``."""
        return f"{self.found} ({place}){self.rest}" if place else f"{self.found}{self.rest}"


class WrongValue(ValueError):
    """What a validator raises that has more to say than what its declaration expects."""

    def __init__(self, *wrong: Wrong) -> None:
        super().__init__("\n".join(one.told() for one in wrong))
        self.wrong = wrong


class RefusedSettings(DeployError):
    """Ends a run before anything is changed; ``wrong`` has every setting that cannot be used."""

    def __init__(self, *wrong: Wrong) -> None:
        super().__init__("\n".join(one.told() for one in wrong))
        self.wrong = wrong


def wrong_value(setting: str, value: object, expected: str) -> Wrong:
    """A value that the setting cannot have."""
    return Wrong(setting, f"setting {setting} is {value!r}", f"; expected {expected}")


def unknown_setting(name: str, known: Collection[str]) -> Wrong:
    """A name that no setting has: ``unknown setting batch_sise: did you mean batch_size?``."""
    near = get_close_matches(name, known, n=1)
    rest = f": did you mean {near[0]}?" if near else "; docs/settings.md has all names"
    return Wrong(name, f"unknown setting {name}", rest)
