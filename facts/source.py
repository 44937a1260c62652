"""The shape of every fact here: probes, and a parser from their answers to a value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from pyinfra.api.facts import FactBase
from typing_extensions import override

from pyinfra_nvml.facts.node_script import node_script
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    read_frame,
    understood,
)
from pyinfra_nvml.model.unknown import Unknown

T = TypeVar("T")

# One script for all hosts of a run.
_script = cache(node_script)


class Answers(dict[str, Section]):
    """A node's answers to these probes, and what has been read from them by now: its facts."""

    def __init__(self, probes: Sequence[Probe], sections: Sections) -> None:
        super().__init__(understood(probes, sections))
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
        return self.judged(read_frame(output))

    @classmethod
    def judged(cls, sections: Sections) -> T | Unknown:
        """``parse``, with a fault in the parser itself contained to this one value.

        pyinfra ends the run for every host when a fact raises (api/facts.py, 3.10.0). Facts stand
        on others: each is read once from a node's answers.
        """
        answers = sections if isinstance(sections, Answers) else Answers(cls.probes, sections)
        if cls not in answers.known:
            answers.known[cls] = cls._judged(answers)
        known: T | Unknown = answers.known[cls]
        return known

    @classmethod
    def _judged(cls, answers: Answers) -> T | Unknown:
        try:
            return cls.parse(answers)
        except Exception as fault:  # noqa: BLE001
            return Unknown(f"{cls.name}: its parser failed: {type(fault).__name__}: {fault}")

    @override
    @staticmethod
    def default() -> Unknown:
        return Unknown("the node did not answer")
