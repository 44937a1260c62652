"""A host that is refused fails, and is not spoken to for that."""

from __future__ import annotations

import logging

import pytest
from pyinfra.api import Inventory, State
from pyinfra.api.command import FunctionCommand
from pyinfra.context import ctx_host, ctx_state

from pyinfra_nvml.operations import refusal


def commands(state: State, reasons: list[str]) -> list[FunctionCommand]:
    host = next(iter(state.inventory))
    with ctx_state.use(state), ctx_host.use(host):
        return list(refusal.preconditions._inner(reasons=reasons))


@pytest.fixture
def state() -> State:
    return State(Inventory((["gpu-01"], {})))


def test_with_a_reason_it_fails_without_a_word_to_the_node(
    state: State, caplog: pytest.LogCaptureFixture
) -> None:
    (command,) = commands(state, ["node: saw no answer, want it to answer"])
    # The host has no connection here: anything sent to it would raise.
    with caplog.at_level(logging.ERROR, "pyinfra"):
        assert command.execute(state, next(iter(state.inventory)), {}) is False
    assert "refused: node: saw no answer, want it to answer" in caplog.text


def test_without_one_nothing_is_done(state: State) -> None:
    assert commands(state, []) == []
