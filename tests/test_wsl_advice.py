"""What is said of Windows' side of a WSL2 distribution, by what the distribution shows."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Any

import pytest

from pyinfra_nvml.explain.wsl_advice import (
    Advice,
    advice,
    advice_lines,
    desktop,
)
from pyinfra_nvml.model.unknown import Unknown
from tests import recordings

ROOT = Path(__file__).parents[1]

V2 = {
    "cgroup.mounts": {
        "out": "mount 25 20 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\nsystemd\n"
    }
}


def conf(*text: str) -> dict[str, Any]:
    kernel = "/proc/sys/kernel/osrelease:5.15.153-microsoft-standard-WSL2\n"
    return {"wsl.files": {"out": kernel + "".join(f"/etc/wsl.conf:{line}\n" for line in text)}}


def said(answers: dict[str, Any]) -> str:
    return "\n".join(advice_lines(advice(recordings.node("gpu_wsl", answers))))


def steps(answers: dict[str, Any]) -> list[str]:
    found = advice(recordings.node("gpu_wsl", answers))
    assert isinstance(found, Advice), found
    return [step.do for step in found.steps]


def test_an_update_of_wsl_comes_before_the_kernel_line_and_each_has_its_price() -> None:
    found = advice(recordings.node("gpu_wsl"))
    assert isinstance(found, Advice)
    first, update, kernel = found.steps
    assert "native.cgroupdriver=cgroupfs" in first.do
    assert "wsl --update" in update.do and "every distribution" in update.price
    assert "only if it is still not v2" in kernel.do
    assert "every distribution" in kernel.price and "policy" in kernel.price
    file = configparser.ConfigParser()
    file.read_string(kernel.text)
    assert dict(file["wsl2"]) == {"kernelcommandline": "cgroup_no_v1=all"}


def test_the_lines_of_the_boot_are_told_apart() -> None:
    text = said({})
    assert re.search(r"^boot: sign: System is tainted: cgroupsv1", text, re.M)
    assert re.search(r"^boot: sign: ssh.service: Failed to migrate controller cgroups", text, re.M)
    assert re.search(r"^boot: harmless: .*io.containerd.monitor.v1.cgroups", text, re.M)


def test_wsl_conf_is_written_out_without_the_line_that_asks_for_v1() -> None:
    given = ("# mine", "[boot]", "systemd=true", "", "[Automount]", " cgroups = V1", "root=/w/")
    found = advice(recordings.node("gpu_wsl", conf(*given)))
    assert isinstance(found, Advice)
    assert "cgroups=v1" in found.steps[0].do
    assert found.steps[0].text.splitlines() == [line for line in given if "V1" not in line]
    for other in (("[automount]", "cgroups=v2"), ("[boot]", "cgroups=v1"), ("#cgroups=v1",)):
        assert "wsl.conf" not in steps(conf(*other))[0], other


def test_on_v2_nothing_is_left_to_do() -> None:
    assert steps(V2) == []
    assert said(V2).endswith("nothing to change on Windows' side")


def test_docker_desktop_is_known_by_its_engine() -> None:
    info = {"out": '{"ServerVersion": "28.3.0", "OperatingSystem": "Docker Desktop"}'}
    answers = {"docker_engine.info": info, **V2}
    assert desktop(recordings.node("gpu_wsl", answers))
    assert not desktop(recordings.node("gpu_wsl"))
    assert "Docker Desktop on Windows, Settings, Docker Engine" in steps(answers)[0]
    assert len(steps(answers)) == 1


@pytest.mark.parametrize(
    ("node", "answers", "want"),
    [
        ("trixie_exposed", {}, "not the Windows Subsystem for Linux"),
        ("gpu_wsl", {"wsl.paths": {"out": "/dev/dxg\n"}}, "a container on WSL2's kernel"),
        (
            "gpu_wsl",
            {
                "wsl.files": {"out": "/proc/sys/kernel/osrelease:4.4.0-19041-Microsoft\n"},
                "wsl.paths": {"out": ""},
            },
            "wsl --set-version",
        ),
    ],
)
def test_where_there_is_no_advice_the_reason_is_told(
    node: str, answers: dict[str, Any], want: str
) -> None:
    found = advice(recordings.node(node, answers))
    assert isinstance(found, str) and want in found


@pytest.mark.parametrize(
    ("answers", "want"),
    [
        ({"wsl.paths": {"rc": "hung"}}, "WSL: could not tell"),
        ({"cgroup.mounts": {"rc": 1}}, "cgroups: could not tell"),
    ],
)
def test_what_could_not_be_told_is_no_advice_and_no_all_clear(
    answers: dict[str, Any], want: str
) -> None:
    found = advice(recordings.node("gpu_wsl", answers))
    assert isinstance(found, Unknown)
    assert [line for line in advice_lines(found) if line.startswith(want)] == [found.reason]


def test_a_journal_that_was_not_read_is_told() -> None:
    text = said({"systemd_manager.journal": {"rc": "hung"}})
    assert "boot: could not tell (systemd_manager.journal: hung" in text


def test_the_page_shows_what_is_told() -> None:
    page = (ROOT / "docs/wsl.md").read_text()
    shown = re.findall(r"```\n(.*?)```", page, re.S)[0]
    text = said({})
    for line in shown.splitlines():
        for piece in line.split("..."):
            assert piece.strip() in text, piece
