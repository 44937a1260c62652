"""Every setting of a run that makes no sense is told, once, before any host is connected to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyinfra.api import Host, Inventory

from pyinfra_nvml.fleet import run_start
from pyinfra_nvml.fleet.wrong_settings import canary, wrong_settings
from pyinfra_nvml.settings.reading import read_once
from pyinfra_nvml.settings.schedule import read_schedule

DEPLOYS = Path(__file__).resolve().parent.parent / "deploys"


def fleet(given: dict[str, Any], **groups: tuple[list[Any], dict[str, Any]]) -> Inventory:
    """An inventory with ``--data``; the group ``all`` of it has what ``every`` gives."""
    names, data = groups.pop("every", ([], {}))
    hosts = names or [host for members, _ in groups.values() for host in members]
    return Inventory((hosts, data), override_data=given, **groups)


def told(inventory: Inventory, *readers: Any) -> list[str]:
    return list(wrong_settings(inventory, list(inventory), readers or (read_once,)))


def test_all_of_them_at_once_and_where_each_was_said() -> None:
    inventory = fleet(
        {"max_failures": "lots"},
        every=([], {"canary": -1}),
        old=(["gpu-01", ("gpu-02", {"batch_size": 0})], {"reboot": "yes", "batch_size": 5}),
        new=(["gpu-03", ("gpu-04", {"batch_size": 0}), ("gpu-05", {"batch_size": "0"})], {}),
    )
    assert set(told(inventory)) == {
        "setting max_failures is 'lots' (--data); expected a number from 0",
        "setting canary is -1 (group all); expected a number from 0, or names of hosts",
        "setting reboot is 'yes' (group old); expected true or false",
        "setting batch_size is 0 (host gpu-02 and 1 more); expected a number from 1",
        "setting batch_size is '0' (host gpu-05); expected a number from 1",
    }


def test_of_several_groups_the_last_counts_as_it_does_for_pyinfra() -> None:
    inventory = fleet({}, a=(["x"], {"batch_size": 0}), b=(["x"], {"batch_size": -1}))
    assert told(inventory) == ["setting batch_size is -1 (group b); expected a number from 1"]


@pytest.mark.parametrize(
    ("name", "near"),
    [("batch_sise", "batch_size"), ("max_failure", "max_failures"), ("kube_config", "kubeconfig")],
)
def test_a_misspelt_one_in_a_group_or_on_a_host_is_told(name: str, near: str) -> None:
    for inventory, place in (
        (fleet({}, gpus=(["a", "b"], {name: 4})), "group gpus"),
        (fleet({}, gpus=([("a", {name: 4}), "b"], {})), "host a"),
    ):
        assert told(inventory) == [f"unknown setting {name} ({place}): did you mean {near}?"]


@pytest.mark.parametrize("name", ["rack", "colour", "canaries", "ssh_keys", "reported", "gpu"])
def test_names_of_the_inventorys_own_are_nobodys_business(name: str) -> None:
    assert told(fleet({}, gpus=(["a"], {name: 4}))) == []


def test_what_nobody_said_has_no_place() -> None:
    assert told(fleet({"accept": True}, gpus=(["a"], {"report_json": None}))) == [
        "setting accept is True (--data), but report_json names no file;"
        " expected one: accepted.json is written beside it"
    ]
    asked = fleet({}, gpus=(["a"], {"drift_mode": "controller"}))
    (line,) = told(asked, read_schedule)
    assert line == (
        "setting drift_inventory is None; expected the path of an inventory on the controller"
    )


def test_a_canary_that_is_not_there_is_told_once_and_only_of_a_change() -> None:
    inventory = fleet({}, gpus=(["a", "b"], {"canary": ["a", "gone"]}))
    assert told(inventory) == []
    assert told(inventory, read_once, canary) == [
        "setting canary names gone (group gpus); expected names of hosts in the inventory"
    ]


def test_deploys_that_change_in_groups_are_those_that_have_a_canary() -> None:
    deploys = {path.stem for path in DEPLOYS.glob("*.py") if "batch.batches" in path.read_text()}
    assert deploys == run_start._IN_GROUPS


def test_hosts_that_are_alike_are_read_once() -> None:
    hosts = [(f"gpu-{number}", {"ssh_hostname": f"10.0.0.{number}"}) for number in range(50)]
    inventory = fleet({}, gpus=([*hosts, ("odd", {"batch_size": 3})], {"batch_size": 4}))
    read: list[Host] = []
    assert told(inventory, read.append) == []
    assert [host.name for host in read] == ["gpu-0", "odd"]
    assert read_once(inventory.hosts["gpu-1"]) is read_once(inventory.hosts["gpu-2"])
    assert read_once(inventory.hosts["odd"]).batch_size == 3
