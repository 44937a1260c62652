"""Knobs whose value makes no sense, all of a host's at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from pyinfra.api.exceptions import DeployError

Value = TypeVar("Value")


class RefusedKnobs(DeployError):
    """Ends a run before anything is changed; ``lines`` has each knob's name and what is told."""

    def __init__(self, *lines: tuple[str, str]) -> None:
        super().__init__("\n".join(line for _, line in lines))
        self.lines = lines


def refused_knob(knob: str, saw: object, want: str) -> RefusedKnobs:
    """What is told of one knob.

    .. code:: python

        "knob batch_size: saw 0, want a number from 1"
    """
    return RefusedKnobs((knob, f"knob {knob}: saw {saw!r}, want {want}"))


class Reading:
    """Goes through a host's knobs to the last, whatever is wrong with those before it."""

    def __init__(self, given: Callable[[str], object]) -> None:
        self._given = given
        self._lines: list[tuple[str, str]] = []

    def knob(self, name: str, meant: Callable[[str, object], Value]) -> Value:
        """What is meant by it; of one that means nothing no value is ever used."""
        return cast("Value", self.attempt(lambda: meant(name, self._given(name))))

    def attempt(self, step: Callable[[], Value]) -> Value | None:
        """The step's value, or none where it was refused, which is kept."""
        try:
            return step()
        except RefusedKnobs as refusal:
            self._lines += refusal.lines
            return None

    def end(self) -> None:
        """Refuses what made no sense, all of it at once."""
        if self._lines:
            raise RefusedKnobs(*self._lines)
