"""The order of a fleet: who goes first, who goes with whom, and what stops the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyinfra_nvml.fleet.batches import (
    Batches,
    Progress,
    halt_reason,
    most_at_once,
    plan_batches,
    unreached_canary,
)

HOSTS = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("canary", "size", "most", "groups"),
    [
        (1, 2, None, (("a",), ("b", "c"), ("d", "e"))),
        (0, 2, None, (("a", "b"), ("c", "d"), ("e",))),
        (("c", "e"), 10, None, (("c", "e"), ("a", "b", "d"))),
        (("c", "e"), 10, 1, (("c",), ("e",), ("a",), ("b",), ("d",))),
        (1, 10, 3, (("a",), ("b", "c", "d"), ("e",))),
        (("gone",), 10, None, (tuple(HOSTS),)),
        (5, 10, None, (tuple(HOSTS),)),
    ],
)
def test_groups(
    canary: int | tuple[str, ...], size: int, most: int | None, groups: tuple[tuple[str, ...], ...]
) -> None:
    assert plan_batches(HOSTS, canary, size, most).groups == groups


def test_a_single_host_has_no_canary() -> None:
    assert plan_batches(["a"], 1, 10) == Batches((("a",),), canaries=0)


@given(
    hosts=st.lists(st.text(min_size=1), unique=True),
    canary=st.integers(0, 9),
    size=st.integers(1, 9),
    most=st.none() | st.integers(1, 9),
)
def test_every_host_is_in_one_group(
    hosts: list[str], canary: int, size: int, most: int | None
) -> None:
    order = plan_batches(hosts, canary, size, most)
    assert sorted(host for group in order.groups for host in group) == sorted(hosts)
    for host in hosts:
        assert host in order.groups[order.place(host)]
        assert order.title(order.place(host))
    if most:
        assert all(len(group) <= most for group in order.groups)


def progress(done: str = "", failed: str = "", refused: str = "") -> Progress:
    return Progress(frozenset(done), frozenset(failed), frozenset(refused))


def test_a_failed_canary_stops_the_rest() -> None:
    order = plan_batches(HOSTS, 1, 2)
    assert halt_reason(order, 0, progress(failed="a"), 0) is None
    assert halt_reason(order, 1, progress(failed="a"), 5) == "canary: saw a fail, want at most 0"
    assert halt_reason(order, 1, progress(done="a"), 0) is None


def test_a_canary_that_refused_proves_nothing() -> None:
    order = plan_batches(HOSTS, 1, 2)
    assert "saw a refused" in str(halt_reason(order, 1, progress(refused="a"), 9))
    both = plan_batches(HOSTS, 2, 2)
    assert halt_reason(both, 1, progress(done="a", refused="b"), 0) is None


def test_a_group_waits_for_those_before_it() -> None:
    order = plan_batches(HOSTS, 1, 2)
    assert "saw a not done yet" in str(halt_reason(order, 1, progress(), 9))
    assert "saw c not done yet" in str(halt_reason(order, 2, progress(done="ab"), 9))


def test_a_batch_with_more_failures_than_allowed_stops_the_rest() -> None:
    order = plan_batches(HOSTS, 1, 2)
    assert halt_reason(order, 2, progress(done="ac", failed="b"), 1) is None
    saw = halt_reason(order, 2, progress(done="a", failed="bc"), 1)
    assert saw == "batch 1 of 2: saw b, c fail, want at most 1"
    assert halt_reason(order, 2, progress(done="a", refused="bc"), 0) is None


def test_failed_hosts_count_as_out_of_service() -> None:
    order = plan_batches(HOSTS, 1, 2, most=2)
    assert halt_reason(order, 2, progress(done="ac", failed="b"), 1, most=2)
    assert halt_reason(order, 2, progress(done="abc"), 1, most=2) is None


@pytest.mark.parametrize(
    ("share", "hosts", "most"), [(None, 9, None), (3, 9, 3), ("25%", 10, 2), ("1%", 10, 1)]
)
def test_a_share_of_the_run(share: int | str | None, hosts: int, most: int | None) -> None:
    assert most_at_once(share, hosts) == most


def test_named_canaries_none_of_which_is_there() -> None:
    order = plan_batches(HOSTS, ("gone",), 2)
    assert unreached_canary(("gone",), order) is not None
    assert unreached_canary(("a",), plan_batches(HOSTS, ("a",), 2)) is None
    assert unreached_canary(1, order) is None
