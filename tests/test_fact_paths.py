"""Facts that are read back from a document are named as the node's own types name them."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from pyinfra_nvml.audit.fact_paths import FactPath, Untold, fact_at, items_at
from pyinfra_nvml.drift.lasting_facts import LASTING, LastingFact
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown

# daemon_json shows its content by size and sum alone (facts/daemon_json.py, to_json).
SUM = "content.sha256"


def kinds(hint: Any) -> Iterator[Any]:
    """What a field may hold, a list's items among it; neither ``None`` nor ``Unknown``."""
    if get_origin(hint) in (Union, UnionType):
        for one in get_args(hint):
            yield from kinds(one)
    elif hint not in (type(None), Unknown):
        yield hint


def at(kind: Any, path: str) -> set[Any]:
    """The types at the end of a path of fields; raises where a field is not there."""
    found = {kind}
    for step in path.split("."):
        assert all(map(is_dataclass, found)), f"{path}: {step} of {found}"
        found = {one for each in found for one in kinds(get_type_hints(each)[step])}
    return found


def items(path: FactPath) -> set[Any]:
    """The types of a list's items."""
    lists = at(NodeState, path.value)
    assert {get_origin(one) for one in lists} == {tuple}, path
    return {get_args(one)[0] for one in lists}


@pytest.mark.parametrize("path", FactPath, ids=lambda path: path.value)
def test_every_fact_is_a_field_of_the_node(path: FactPath) -> None:
    assert at(NodeState, path.value)


@pytest.mark.parametrize("fact", LASTING, ids=lambda fact: fact.name)
def test_every_lasting_fact_is_a_word_or_a_list_of_such(fact: LastingFact) -> None:
    if not fact.value:
        shown = at(NodeState, fact.path.value)
        assert all(issubclass(kind, (str, int, Enum)) for kind in shown), shown
        return
    fields = [name for _, name, _, _ in string.Formatter().parse(fact.name) if name]
    fields += [fact.status] if fact.status else []
    fields += [fact.value] if fact.value != SUM else ["content"]
    for kind in items(fact.path):
        assert fields and all(at(kind, field) for field in fields)


@pytest.mark.parametrize("path", ["engin.info", "engine.inf", "machine.kernel.x"])
def test_a_name_that_is_not_there_is_seen(path: str) -> None:
    with pytest.raises((KeyError, AssertionError)):
        at(NodeState, path)


def facts(path: FactPath, value: object) -> Any:
    """Facts in which this alone stands at the path's end."""
    for step in reversed(path.value.split(".")):
        value = {step: value}
    return value


def test_what_is_unknown_on_the_way_is_untold_and_what_is_none_has_nothing_below() -> None:
    first = FactPath.DOCKER.value.partition(".")[0]
    assert fact_at({first: None}, FactPath.DOCKER) is None
    assert fact_at(facts(FactPath.DOCKER, "29.2.0"), FactPath.DOCKER) == "29.2.0"
    untold: list[dict[str, Any]] = [{}, {first: {"unknown": "timed out"}}, {first: "x"}]
    for said in untold:
        with pytest.raises(Untold):
            fact_at(said, FactPath.DOCKER)
    modules = [{"kernel": "6.1", "version": {"unknown": "not readable"}}]
    for disk in (modules, "x", [7]):
        with pytest.raises(Untold):
            items_at(facts(FactPath.MODULE_ON_DISK, disk), FactPath.MODULE_ON_DISK)
