"""The names of settings: each has its default and meaning in one file, and no other is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyinfra.api import Inventory

from pyinfra_nvml.model.refusal import Overrule
from pyinfra_nvml.settings.models import Settings
from pyinfra_nvml.settings.names import unknown_to
from pyinfra_nvml.settings.wrong import RefusedSettings

HOST = ("@local", {"colour": "green"})


def refusals(**given: object) -> tuple[str, ...]:
    return unknown_to(Inventory(([HOST], {}), override_data=given))


@pytest.mark.parametrize("setting", Settings.names())
def test_every_setting_is_known_and_has_its_default_in_the_file_of_defaults(setting: str) -> None:
    assert refusals(**{setting: 1}) == ()


@pytest.mark.parametrize("name", ["ssh_user", "ssh_port", "_sudo", "_timeout", "colour"])
def test_what_pyinfra_or_the_inventory_names_is_known(name: str) -> None:
    assert refusals(**{name: 1}) == ()


@pytest.mark.parametrize(
    ("name", "near"),
    [("cgroup_drivr", "cgroup_driver"), ("waiver", "waivers"), ("sudo", "_sudo")],
)
def test_a_misspelt_name_is_told_the_nearest(name: str, near: str) -> None:
    assert refusals(**{name: 1}) == (f"unknown setting {name} (--data): did you mean {near}?",)


def test_a_name_that_is_like_none_is_told_where_they_are() -> None:
    (told,) = refusals(zzz=1)
    assert told.endswith("(--data); docs/settings.md has all names")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("batch_size", "3", "a number from 1"),
        ("batch_size", True, "a number from 1"),
        ("batch_size", 3.0, "a number from 1"),
        ("reboot", 1, "true or false"),
        ("reboot", "true", "true or false"),
        ("_timeout", "60", "a number of seconds from 1, or None"),
        ("_timeout", True, "a number of seconds from 1, or None"),
        ("canary", True, "a number from 0, or names of hosts"),
        ("canary", [], "a number from 0, or names of hosts"),
        ("max_unavailable", "0%", "a number from 1, a share from 1% to 100%, or None"),
        ("max_unavailable", "101%", "a number from 1, a share from 1% to 100%, or None"),
        ("mig_monitors", [1], "a list of names"),
        ("kubecontext", " ", "a name, or None"),
        ("overrule", ["remove", ["ecs"]], f"some of {', '.join(each.value for each in Overrule)}"),
        ("overrule", "zork", f"some of {', '.join(each.value for each in Overrule)}"),
    ],
)
def test_a_value_is_never_taken_for_another(name: str, value: object, expected: str) -> None:
    with pytest.raises(RefusedSettings) as refusal:
        Settings.read({name: value})
    assert str(refusal.value) == f"setting {name} is {value!r}; expected {expected}"


@pytest.mark.parametrize("name", ["report_json", "report_html", "report_junit", "report_markdown"])
@pytest.mark.parametrize("value", [None, "None", ""])
def test_none_is_no_file_on_the_command_line_too(name: str, value: object) -> None:
    assert getattr(Settings.read({name: value}), name) is None
    assert Settings.read({name: "-"}).model_dump()[name] == Path("-")


def test_none_stands_for_the_default_of_what_cannot_be_none() -> None:
    assert Settings.read({"batch_size": None, "audit_level": None, "overrule": None}) == Settings()
