"""What one host does to a run, and does not."""

from __future__ import annotations

from typing import Any

import pytest
from pyinfra.api import Config, Inventory, State

from pyinfra_nvml.fleet.session import Session
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.models import Settings


def test_sudo_that_asks_where_nobody_answers_is_told_of_that_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inventory = Inventory((["@local"], {}))
    State(inventory, Config())
    host = inventory.get_host("@local")

    def ask(*_: object, **__: Any) -> None:
        # What getpass.getpass ends in without a terminal (pyinfra 3.10.0, connectors/util.py).
        raise EOFError

    monkeypatch.setattr(host, "get_fact", ask)
    verdict = Session(Settings()).ask(host)
    assert isinstance(verdict.state, Unknown)
    assert verdict.state.reason.startswith("sudo: a password is required, and there is no terminal")
    assert "want sudo that asks this user for no password" in verdict.state.reason
