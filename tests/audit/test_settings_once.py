"""Settings are read once a host, and each host has its own."""

from __future__ import annotations

import gc
from weakref import ref

import pytest
from pyinfra import host
from pyinfra.api import Host, Inventory
from pyinfra.api.exceptions import DeployError
from pyinfra.context import ctx_host

from pyinfra_nvml.settings.reading import read_settings


@pytest.fixture
def inventory() -> Inventory:
    return Inventory(([("a", {"batch_size": 3}), ("b", {"batch_size": 4})], {}))


def named(inventory: Inventory, name: str) -> Host:
    found = inventory.get_host(name)
    assert isinstance(found, Host)
    return found


def test_a_deploys_host_is_each_host_in_turn(inventory: Inventory) -> None:
    # What a deploy imports as ``host`` stands in for the one that it runs for.
    seen = {}
    for name in ("a", "b", "a"):
        with ctx_host.use(named(inventory, name)):
            seen[name] = read_settings(host).batch_size
    assert seen == {"a": 3, "b": 4}


def test_they_are_read_once_and_known_after_the_deploy(inventory: Inventory) -> None:
    with ctx_host.use(named(inventory, "a")):
        read = read_settings(host)
    assert read_settings(named(inventory, "a")) is read


def test_a_refusal_is_told_each_time() -> None:
    inventory = Inventory(([("a", {"batch_size": 0})], {}))
    for _ in range(2):
        with pytest.raises(DeployError, match="batch_size"):
            read_settings(named(inventory, "a"))


def test_a_name_that_nobody_reads_is_refused_for_every_host() -> None:
    hosts: list[tuple[str, dict[str, object]]] = [("a", {}), ("b", {})]
    inventory = Inventory((hosts, {}), override_data={"batch_sise": 1})
    for name in ("a", "b", "a"):
        with pytest.raises(DeployError, match="unknown setting batch_sise"):
            read_settings(named(inventory, name))


def test_another_inventory_has_its_own(inventory: Inventory) -> None:
    assert read_settings(named(inventory, "a")).batch_size == 3
    other = Inventory(([("a", {"batch_size": 5})], {}))
    assert read_settings(named(other, "a")).batch_size == 5


def test_an_inventory_is_not_kept_for_its_settings() -> None:
    inventory = Inventory(([("a", {"batch_size": 5})], {}))
    gone = ref(inventory)
    assert read_settings(named(inventory, "a")).batch_size == 5
    del inventory
    gc.collect()
    assert gone() is None
