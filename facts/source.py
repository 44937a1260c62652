"""The shape of every fact here: probes, and a parser from their answers to a value."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from pyinfra.api.facts import FactBase
from typing_extensions import override

from facts.node_script import script
from facts.probe import Probe, Section, Sections, read, understood
from facts.unknown import Unknown

T = TypeVar("T")

# One script for all hosts of a run.
_script = cache(script)


class Answers(dict[str, Section]):
    """A node's answers, and what has been read from them by now: the values of its facts."""

    def __init__(self, sections: Sections) -> None:
        super().__init__(sections)
        self.known: dict[type, Any] = {}


class Source(FactBase[T | Unknown], Generic[T]):
    """A pyinfra fact made of probes.

    ``probes`` say what to run on the node, ``parse`` what the answers mean. ``facts.node.Node``
    runs the probes of all sources in one exec and uses the same parsers. What stays unknown is an
    ``Unknown`` with its reason, also where the whole exec failed (pyinfra then asks ``default``).
    """

    probes: ClassVar[tuple[Probe, ...]]

    @classmethod
    @abstractmethod
    def parse(cls, sections: Sections) -> T | Unknown:
        """The value in these answers; whatever their bytes, it never raises."""

    @override
    def command(self) -> str:
        return _script(self.probes)

    @override
    def process(self, output: list[str]) -> T | Unknown:
        return self.judged(Answers(read(output)))

    @classmethod
    def judged(cls, sections: Sections) -> T | Unknown:
        """``parse``, with a fault in the parser itself contained to this one value.

        pyinfra ends the run for every host when a fact raises (api/facts.py, 3.10.0). Facts stand
        on others: each is read once from a node's answers.
        """
        if not isinstance(sections, Answers):
            return cls._judged(sections)
        if cls not in sections.known:
            sections.known[cls] = cls._judged(sections)
        known: T | Unknown = sections.known[cls]
        return known

    @classmethod
    def _judged(cls, sections: Sections) -> T | Unknown:
        try:
            given = understood(cls.probes, sections)
            return cls.parse(given if given is sections else Answers(given))
        except Exception as fault:  # noqa: BLE001
            return Unknown(f"{cls.name}: its parser failed: {type(fault).__name__}: {fault}")

    @override
    @staticmethod
    def default() -> Unknown:
        return Unknown("the node did not answer")
