"""Garbage is looked for more rarely, but still."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pyinfra_nvml.fleet.controller_cpu import tune_gc

PYTHONS_OWN = 700


@pytest.fixture(autouse=True)
def as_python_starts() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(PYTHONS_OWN)
    yield
    gc.set_threshold(*before)


def test_it_is_looked_for_seldom_but_still() -> None:
    tune_gc()
    assert gc.isenabled()
    assert PYTHONS_OWN < gc.get_threshold()[0] < 1_000_000


def test_what_a_later_session_finds_there_may_still_be_freed() -> None:
    tune_gc()
    kept = gc.get_freeze_count()
    assert kept
    more: list[list[None]] = [[] for _ in range(1000)]
    tune_gc()
    assert gc.get_freeze_count() <= kept < kept + len(more)
