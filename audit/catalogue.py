"""Which checks there are (every module of ``checks``), and their judgement of a node."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from pyinfra_nvml import checks
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import (
    Area,
    Outcome,
    Result,
    Undetermined,
    result,
)
from pyinfra_nvml.remedies.prescribe import prescribed
from pyinfra_nvml.settings.policy import Policy

Check = Callable[[NodeState, Policy], Iterator[Outcome]]


@dataclass(frozen=True)
class Entry:
    """One check: its id (the module's name with dashes), when to look, its page, its judgement."""

    id: str
    area: Area
    page: str
    check: Check


@cache
def check_entries() -> tuple[Entry, ...]:
    """All checks in the order to look: area, then name."""
    modules = [
        importlib.import_module(f"{checks.__name__}.{module.name}")
        for module in pkgutil.iter_modules(checks.__path__)
    ]
    found = [
        Entry(
            module.__name__.rpartition(".")[2].replace("_", "-"),
            module.AREA,
            module.__doc__ or "",
            _check(module),
        )
        for module in modules
    ]
    return tuple(sorted(found, key=lambda entry: (list(Area).index(entry.area), entry.id)))


def _check(module: ModuleType) -> Check:
    """The module's judgement; one whose verdict hangs on no policy takes the node alone."""
    if len(inspect.signature(module.check).parameters) == 2:
        judged: Check = module.check
        return judged

    def check(node: NodeState, _: Policy) -> Iterator[Outcome]:
        yield from module.check(node)

    return check


def judge(node: NodeState, policy: Policy | None = None) -> tuple[Result, ...]:
    """What every check says of this node; a check that fails is a doubt, never ok."""
    asked = policy or Policy()
    results = (
        result(entry.id, entry.area, _outcomes(entry, node, asked)) for entry in check_entries()
    )
    return prescribed(node, asked, results)


def _outcomes(entry: Entry, node: NodeState, policy: Policy) -> list[Outcome]:
    try:
        return list(entry.check(node, policy))
    except Exception as fault:  # noqa: BLE001 - one node's surprise must not end the fleet's run
        return [Undetermined("node", f"check {entry.id} failed: {type(fault).__name__}: {fault}")]
