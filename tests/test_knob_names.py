"""The names of knobs: every one has its default and meaning in one file, and no other is taken."""

from __future__ import annotations

import pytest
from pyinfra.api import Inventory

from pyinfra_nvml.settings.knob_names import unknown_to
from pyinfra_nvml.settings.knobs import Knobs

HOST = ("@local", {"colour": "green"})


def refusals(**given: object) -> tuple[str, ...]:
    return unknown_to(Inventory(([HOST], {}), override_data=given))


@pytest.mark.parametrize("knob", Knobs.__dataclass_fields__)
def test_every_knob_is_known_and_has_its_default_in_the_file_of_defaults(knob: str) -> None:
    assert refusals(**{knob: 1}) == ()


@pytest.mark.parametrize("name", ["ssh_user", "ssh_port", "_sudo", "_timeout", "colour"])
def test_what_pyinfra_or_the_inventory_names_is_known(name: str) -> None:
    assert refusals(**{name: 1}) == ()


@pytest.mark.parametrize(
    ("name", "near"),
    [("cgroup_drivr", "cgroup_driver"), ("waiver", "waivers"), ("sudo", "_sudo")],
)
def test_a_misspelt_name_is_told_the_nearest(name: str, near: str) -> None:
    assert refusals(**{name: 1}) == (f"knob {name}: saw no such knob, want {near} (--data)",)


def test_a_name_that_is_like_none_is_told_where_they_are() -> None:
    (told,) = refusals(zzz=1)
    assert told.endswith("want one of inventories/group_data/all.py (--data)")
