"""Every parser of facts/, and the real answers of nodes that the tests hold for its probes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from pyinfra_nvml import facts
from pyinfra_nvml.facts.probe import Section, Sections, read_frame
from pyinfra_nvml.facts.source import Source
from tests import recordings

CASES = Path(__file__).parent / "facts"

AnySource = type[Source[object]]


@cache
def sources() -> tuple[AnySource, ...]:
    """Every fact that is made of probes, by its module's name."""
    for module in pkgutil.iter_modules(facts.__path__):
        importlib.import_module(f"{facts.__name__}.{module.name}")
    # Tests make some of their own.
    real = (one for one in _below(Source) if one.__module__.startswith(f"{facts.__name__}."))  # type: ignore[type-abstract]
    return tuple(sorted(real, key=name))


def name(source: AnySource) -> str:
    """``module.Class``, as pyinfra's command line and the folders of tests/facts have it."""
    return f"{source.__module__.rpartition('.')[2]}.{source.__name__}"


def bases(source: AnySource) -> dict[str, Sections]:
    """Whole answers for this fact: the recorded nodes', and those of its cases."""
    return _bases(name(source))


@cache
def _bases(folder: str) -> dict[str, Sections]:
    found = {path.parent.name: path for path in recordings.NODES.glob("*/recording.txt")}
    answers = {node: recordings.sections(node) for node in sorted(found)}
    for path in sorted((CASES / folder).glob("*.yaml")):
        output = yaml.safe_load(path.read_text())["output"]
        lines = output if isinstance(output, list) else str(output).splitlines()
        answers[path.stem] = read_frame(lines)
    return answers


@cache
def seen(probe: str) -> tuple[Section, ...]:
    """Every different answer to this probe."""
    found = (base.get(probe) for source in sources() for base in bases(source).values())
    return tuple(dict.fromkeys(answer for answer in found if answer))


def _below(source: AnySource) -> Iterator[AnySource]:
    for each in source.__subclasses__():
        yield each
        yield from _below(each)
