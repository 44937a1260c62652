"""What the operations for a driver decide from a node's facts: flag, message, holds, containers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import Template
from pyinfra.api.command import StringCommand
from pyinfra.api.exceptions import ConnectError
from pyinfra.api.state import StateStage
from pyinfra.connectors.util import CommandOutput, OutputLine
from pyinfra.context import ctx_state

from pyinfra_nvml.audit.verdict import Verdict
from pyinfra_nvml.facts.docker_engine import DockerEngine
from pyinfra_nvml.facts.hold_tools import BLACKLIST, HoldTools, HoldToolsState
from pyinfra_nvml.facts.interrupted import Interrupted
from pyinfra_nvml.facts.package_holds import Hold, PackageHolds, PackageHoldsState
from pyinfra_nvml.facts.reboot_flag import RebootFlag, RebootFlagState
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import docker_engine, node_boot, reboot
from pyinfra_nvml.operations import driver_holds as driver_packages
from pyinfra_nvml.plans.driver_plan import DriverPlan
from pyinfra_nvml.settings.models import Settings
from tests import recordings
from tests.operation_host import Host, State, given, on_host, raw

REASON = "driver: module 550.90.07, libnvidia-ml 550.107.02"
SINCE = "2026-03-01T04:05:06+00:00"
OURS = f"pyinfra-nvml: {REASON}"
UBUNTU = "*** System restart required ***"


@contextmanager
def on(**facts: object) -> Iterator[Host]:
    kinds: dict[str, type] = {
        "flag": RebootFlag,
        "holds": PackageHolds,
        "means": HoldTools,
        "engine": DockerEngine,
        "interrupted": Interrupted,
    }
    with on_host({kinds[name]: value for name, value in facts.items()}) as host:
        yield host


def commands(operation: Any, **arguments: Any) -> list[StringCommand]:
    return list(operation._inner(**arguments))


def flag(*lines: str) -> RebootFlagState | None:
    return RebootFlagState(lines) if lines else None


FLAGS: dict[str, tuple[RebootFlagState | None, dict[str, Any], str | None]] = {
    "none there": (flag(), {"since": SINCE}, f"{OURS}\npyinfra-nvml: since {SINCE}\n"),
    "Ubuntu's there": (flag(UBUNTU), {}, f"{UBUNTU}\n{OURS}\n"),
    "right": (flag(OURS, f"pyinfra-nvml: since {SINCE}"), {"since": SINCE}, None),
    "right, and the time is not asked": (flag(OURS, f"pyinfra-nvml: since {SINCE}"), {}, None),
    "another reason before": (
        flag("pyinfra-nvml: old", f"pyinfra-nvml: since {SINCE}"),
        {},
        f"{OURS}\n",
    ),
}


@pytest.mark.parametrize("case", FLAGS)
def test_the_flag_says_why_and_since_when(case: str) -> None:
    now, arguments, wanted = FLAGS[case]
    with on(flag=now):
        made = commands(reboot.flag, reason=REASON, **arguments)
    assert [given(command) for command in made] == ([wanted] if wanted else [])


def test_our_lines_go_and_those_of_others_stay() -> None:
    with on(flag=flag(UBUNTU, OURS, f"pyinfra-nvml: since {SINCE}")):
        (command,) = commands(reboot.flag, reason=None)
    assert given(command) == f"{UBUNTU}\n"
    with on(flag=flag(OURS)):
        (command,) = commands(reboot.flag, reason=None)
    assert raw(command) == "rm -f /run/reboot-required"


def test_who_logs_in_reads_it() -> None:
    with on(flag=None):
        (command,) = commands(reboot.message, reason=REASON, since=SINCE)
    assert raw(command).endswith("/run/motd.d/pyinfra-nvml")
    words = given(command)
    assert words.startswith(f"This node waits for a reboot since {SINCE}:\n  {REASON}\n")
    with on(flag=RebootFlagState(tuple(words.splitlines()))) as host:
        assert commands(reboot.message, reason=REASON, since=SINCE) == []
        assert host.told == ["the login message is as it is to be"]
        (command,) = commands(reboot.message, reason=None)
    assert raw(command) == "rm -f /run/motd.d/pyinfra-nvml"


def test_a_flag_that_cannot_be_read_is_not_written_over() -> None:
    with on(flag=Unknown("timed out")):
        for operation in (reboot.flag, reboot.message):
            (command,) = commands(operation, reason=REASON)
            assert raw(command).startswith("printf ")
            assert "saw timed out, want it readable" in raw(command)


PACKAGES = [("apt-mark", "nvidia-dkms-550"), ("apt-mark", "libnvidia-gl-550:i386")]


def test_what_is_held_already_is_left_off_the_record() -> None:
    with on(holds=PackageHoldsState((Hold("nvidia-dkms-550", "dpkg hold"),))):
        (command,) = commands(driver_packages.held, packages=PACKAGES)
    assert raw(command).endswith("/var/lib/pyinfra-nvml hold apt-mark")
    assert given(command) == "libnvidia-gl-550:i386\n"


def test_holds_that_hold_are_no_change() -> None:
    with on(holds=PackageHoldsState((Hold("*nvidia*", "/etc/zypp/locks"),))):
        assert commands(driver_packages.held, packages=PACKAGES) == []
    with on():
        assert commands(driver_packages.held, packages=[]) == []
        assert commands(driver_packages.released, packages=[]) == []


def test_only_what_is_on_record_is_let_go() -> None:
    means = HoldToolsState(("apt-mark",), held=(("apt-mark", "nvidia-dkms-550"),))
    with on(means=means):
        (command,) = commands(driver_packages.released, packages=PACKAGES)
    assert raw(command).endswith("/var/lib/pyinfra-nvml release apt-mark")
    assert given(command) == "nvidia-dkms-550\n"


def test_the_blacklist_is_what_apt_reads() -> None:
    path = Path(__file__).parent.parent / f"templates{BLACKLIST}.j2"
    text = Template(path.read_text()).render(entries=["libnvidia-gl-550$", "nvidia-dkms-550$"])
    assert text.splitlines()[2:] == [
        "Unattended-Upgrade::Package-Blacklist {",
        '    "libnvidia-gl-550$";',
        '    "nvidia-dkms-550$";',
        "};",
    ]


def test_containers_of_before_want_an_engine() -> None:
    with on(engine=None, interrupted=False) as host:
        assert commands(docker_engine.brought_back) == []
        assert host.told == ["nothing that ran before is down"]
    with on(engine=None, interrupted=True):
        (command,) = commands(docker_engine.brought_back)
    assert "docker: saw no engine, want it up to start what ran before" in raw(command)


def test_without_a_wish_nothing_is_rebooted() -> None:
    with on() as host:
        assert commands(node_boot.rebooted, wanted=False) == []
    assert host.told == ["no reboot is asked for, or none is needed"]


@dataclass
class Wire:
    """A node as its connection shows it while it reboots: a boot id, or nobody who answers."""

    answers: list[str | None]
    name: str = "gpu-1"
    told: list[str] = field(default_factory=list)
    connector_data: dict[str, object] = field(default_factory=dict)

    @property
    def connector(self) -> Wire:
        return self

    def disconnect(self) -> None:
        pass

    def connect(self) -> None:
        if self.answers[0] is None:
            self.answers.pop(0)
            raise ConnectError("no route to host")

    def run_shell_command(self, command: StringCommand, **_: object) -> tuple[bool, Any]:
        said = self.answers.pop(0) if "boot_id" in str(command) else ""
        return True, CommandOutput([OutputLine("stdout", said or "")])

    def log(self, text: str, *_: object) -> None:
        self.told.append(text)

    def log_styled(self, text: str, **_: object) -> None:
        self.told.append(text)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes by being slept."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda s: now.__setitem__(0, now[0] + s))


def waited(wire: Wire, timeout: int = 60) -> bool:
    return node_boot._wait(State(), wire, "old", timeout)  # type: ignore[arg-type]


@pytest.mark.usefixtures("clock")
def test_a_shutdown_that_takes_long_is_waited_out() -> None:
    wire = Wire(["old", "old", "old", None, None, None, "new"])
    assert waited(wire)
    assert wire.told == ["back after 14 s, boot new"]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("answers", [["old"] * 40, [None] * 40], ids=["up all along", "gone"])
def test_a_node_that_does_not_come_back_fails(answers: list[str | None]) -> None:
    wire = Wire(answers)
    assert not waited(wire)
    assert "saw no other boot within 60 s, want the node back" in wire.told[0]


def turn(monkeypatch: pytest.MonkeyPatch, plan: DriverPlan) -> list[StringCommand]:
    """What the reboot does when this host's turn has come and this is its plan by then."""
    verdict = Verdict("gpu-1", recordings.node("gpu_skew"), ())
    monkeypatch.setattr(node_boot, "planned", lambda *_: plan)
    monkeypatch.setattr(node_boot, "read_settings", lambda _: Settings())
    monkeypatch.setattr(node_boot, "session", lambda *_: SimpleNamespace(verdicts={"": verdict}))
    with on(interrupted=False, engine=None) as host:
        host.name = ""  # type: ignore[attr-defined]
        with ctx_state.use(SimpleNamespace(current_stage=StateStage.Execute)):
            return commands(node_boot.rebooted, wanted=True)


def test_a_node_in_step_when_its_turn_comes_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert turn(monkeypatch, DriverPlan()) == []


def test_a_reason_that_came_up_meanwhile_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    against = Refusal("package manager", "dpkg (440) at work", "none")
    (command,) = turn(monkeypatch, DriverPlan(refusals=(against,)))
    assert "refused: package manager: saw dpkg (440) at work" in raw(command)


def test_the_reboot_is_begun_for_the_boot_that_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, wait, prove = turn(monkeypatch, DriverPlan(flag="x", reboot=True))
    assert raw(begin).endswith("/var/lib/pyinfra-nvml 00000000-0000-0000-0000-000000000000")
    assert [wait.function, prove.function] == [node_boot._wait, node_boot._prove]  # type: ignore[attr-defined]
