"""A host whose facts are given, for operations that decide by them, and what they then run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyinfra.api.command import StringCommand
from pyinfra.context import ctx_host, ctx_state


@dataclass
class Host:
    """A host as an operation sees it; ``told`` is why it did nothing."""

    facts: dict[type, object]
    told: list[str] = field(default_factory=list)

    def get_fact(self, fact: type, **_: object) -> object:
        return self.facts[fact]

    def noop(self, words: str) -> None:
        self.told.append(words)


class State:
    class config:
        DIFF = False


@contextmanager
def on_host(facts: dict[type, object]) -> Iterator[Host]:
    host = Host(facts)
    with ctx_host.use(host), ctx_state.use(State()):
        yield host


def raw(command: StringCommand) -> str:
    """The command line."""
    text: str = command.get_raw_value()
    return text


def given(command: StringCommand) -> str:
    """Its standard input."""
    text = command.connector_arguments["_stdin"]
    assert isinstance(text, str)
    return text
