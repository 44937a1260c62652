"""What the two operations decide from a node's facts: nothing, one command, or all reasons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from pyinfra.api.command import StringCommand

from pyinfra_nvml.facts.daemon_json import (
    ConfigFile,
    DaemonJson,
    DaemonJsonState,
    FileKind,
)
from pyinfra_nvml.facts.daemons import Daemon, Daemons, DaemonsState
from pyinfra_nvml.facts.docker_engine import DockerEngine, DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_unit import DockerUnit, DockerUnitState
from pyinfra_nvml.facts.interrupted import Interrupted
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.operations import daemon_json, docker_engine
from pyinfra_nvml.plans.daemon_change import FileChange, plan_change
from tests.operation_host import Host, given, on_host, raw

PATH = "/etc/docker/daemon.json"
ARGUMENTS = ("/usr/sbin/dockerd", "-H", "fd://")
NO_UNIT = DockerUnitState((), 1, None)
RIGHT = b'{"exec-opts": ["native.cgroupdriver=cgroupfs"]}'


def dockerd(*arguments: str, pid: int = 612, uid: int = 0) -> Daemon:
    return Daemon(pid, "dockerd", uid, arguments or ARGUMENTS, ())


def file(content: bytes | Unknown | None, path: str = PATH, **more: Any) -> ConfigFile:
    kind = FileKind.ABSENT if content is None else FileKind.REGULAR
    return replace(ConfigFile(path, path, kind, False, 0o644, 0, 0, content), **more)


def planned(
    *found: ConfigFile,
    daemons: DaemonsState | Unknown | None = None,
    unit: DockerUnitState | None = None,
) -> FileChange | list[str] | None:
    files = DaemonJsonState(found)
    known = daemons or DaemonsState((dockerd(),))
    decided = plan_change(files, known, unit or NO_UNIT, "cgroupfs")
    return decided if decided is None or isinstance(decided, FileChange) else list(decided)


def test_a_right_file_needs_nothing() -> None:
    assert planned(file(RIGHT)) is None


def test_a_right_file_may_be_read_only() -> None:
    assert planned(file(RIGHT, kept="it is read-only or immutable")) is None


def test_an_absent_file_is_made() -> None:
    change = planned(file(None))
    assert isinstance(change, FileChange)
    assert (change.path, change.before, change.dockerd) == (PATH, None, ARGUMENTS)


def test_the_file_that_the_engine_reads_is_the_one() -> None:
    other = "/srv/docker.json"
    daemons = DaemonsState((dockerd("/usr/sbin/dockerd", "--config-file", other),))
    change = planned(file(RIGHT), file(b"{}", other), daemons=daemons)
    assert isinstance(change, FileChange)
    assert change.path == other


UNIT = ("/usr/bin/dockerd", "-H", "fd://", "--exec-opt", "native.cgroupdriver=systemd")


def test_the_flags_of_the_next_start_count() -> None:
    """systemd has loaded a drop-in since the engine's start."""
    unit = DockerUnitState((), 1, UNIT)
    reasons = planned(file(b"{}"), unit=unit)
    assert isinstance(reasons, list)
    assert "exec-opts: saw it in the file and as --exec-opt" in reasons[0]
    change = planned(file(b"{}"), unit=DockerUnitState((), 1, (*ARGUMENTS, "--debug=true")))
    assert isinstance(change, FileChange)
    assert change.dockerd == (*ARGUMENTS, "--debug=true")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((*ARGUMENTS, "--log-driver", "--live-restore"), ARGUMENTS),
        (("/usr/sbin/dockerd", "-H"), ARGUMENTS),
        (("/usr/bin/env", "A=b", "dockerd", "--debug"), ARGUMENTS),
    ],
)
def test_options_without_their_values_are_not_validated_with(
    arguments: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    change = planned(file(b"{}"), unit=DockerUnitState((), 1, arguments))
    assert isinstance(change, FileChange)
    assert change.dockerd == wanted


def test_a_drop_in_that_is_not_loaded_counts_too() -> None:
    reasons = planned(file(b"{}"), unit=DockerUnitState((), 1, ARGUMENTS, UNIT))
    assert isinstance(reasons, list)
    assert "not loaded yet" in reasons[0]


def test_a_unit_that_was_not_read_is_a_reason() -> None:
    reasons = planned(file(b"{}"), unit=DockerUnitState((), 1, Unknown("timed out")))
    assert reasons == [f"{PATH}: next start of dockerd: saw timed out, want to know its flags"]


def test_without_an_engine_the_default_is_meant() -> None:
    change = planned(file(b"{}"), daemons=DaemonsState(()))
    assert isinstance(change, FileChange)
    assert (change.path, change.dockerd) == (PATH, ())


@pytest.mark.parametrize(
    ("files", "daemons", "words"),
    [
        ([file(b"{,}")], (dockerd(),), "line 1, column 2: saw ','"),
        ([file(Unknown("it: Permission denied"))], (dockerd(),), "Permission denied"),
        ([], (dockerd(),), "was not read"),
        ([file(None, link=True, target="/x")], (dockerd(),), "saw a link to /x"),
        (
            [file(b"{}")],
            (dockerd(), dockerd("dockerd", "--data-root=/srv", pid=7)),
            "2 of them (pids 612, 7)",
        ),
        ([file(b"{}")], (dockerd(uid=1000),), "runs as user 1000"),
        (
            [file(b"{}")],
            (dockerd("dockerd", "--exec-opt", "native.cgroupdriver=systemd"),),
            "exec-opts: saw it in the file and as --exec-opt",
        ),
        (
            [file(b"{}", kept="it is a mount of its own")],
            (dockerd(),),
            "saw it is a mount of its own",
        ),
        ([file(b'{"hosts": []}')], (dockerd(),), "hosts: saw it in the file and as -H"),
        ([file(b'{"default-runtime": "nvidia"}')], (dockerd(),), "default-runtime: saw nvidia"),
    ],
)
def test_refused(files: list[ConfigFile], daemons: tuple[Daemon, ...], words: str) -> None:
    reasons = planned(*files, daemons=DaemonsState(daemons))
    assert isinstance(reasons, list)
    assert words in reasons[0]


def test_facts_that_did_not_come_are_reasons() -> None:
    reasons = plan_change(Unknown("no answer"), Unknown("timed out"), NO_UNIT, "cgroupfs")
    assert reasons == ["daemon.json: no answer", "daemon.json: timed out"]


def test_a_child_of_dockerd_that_is_about_to_exec_is_no_second_engine() -> None:
    daemons = DaemonsState((dockerd(), dockerd(pid=613)))
    assert isinstance(planned(file(b"{}"), daemons=daemons), FileChange)


def test_a_rootless_engine_beside_that_of_root_is_none_of_ours() -> None:
    daemons = DaemonsState((dockerd(uid=1000, pid=9), dockerd()))
    assert isinstance(planned(file(b"{}"), daemons=daemons), FileChange)


INFO = EngineInfo("26.1.5", "systemd", "2", False, (), (), "runc", "", "", "", "", (), ())


@contextmanager
def on(
    driver: str = "systemd",
    content: bytes | None = RIGHT,
    *,
    engine: DockerEngineState | Unknown | str | None = "up",
    interrupted: bool | Unknown = False,
) -> Iterator[Host]:
    up = DockerEngineState(replace(INFO, cgroup_driver=driver), None, dockerd())
    facts: dict[type, object] = {
        DaemonJson: DaemonJsonState((file(content),)),
        Daemons: DaemonsState((dockerd(),)),
        DockerUnit: NO_UNIT,
        DockerEngine: up if engine == "up" else engine,
        Interrupted: interrupted,
    }
    with on_host(facts) as host:
        yield host


def commands(operation: Any) -> list[StringCommand]:
    """Those that change the node; a look at it afterwards is none."""
    return [one for one in operation._inner() if isinstance(one, StringCommand)]


def test_the_write_carries_the_file_on_standard_input_alone() -> None:
    with on(content=b'{"log-opts": {"token": "s3cret"}}'):
        (command,) = commands(daemon_json.configured_driver)
    assert "s3cret" not in raw(command)
    assert "czNjcmV0" not in raw(command)
    assert raw(command).endswith(
        f"{PATH} /var/lib/pyinfra-nvml cgroupfs /usr/sbin/dockerd -H fd://"
    )
    assert len(given(command).splitlines()) >= 3


def test_a_right_file_is_no_change() -> None:
    with on() as host:
        assert commands(daemon_json.configured_driver) == []
    assert host.told == ["daemon.json names the cgroup driver cgroupfs"]


def test_a_refusal_is_a_command_that_fails() -> None:
    with on(content=b"{'a': 1}"):
        (command,) = commands(daemon_json.configured_driver)
    assert raw(command).startswith("printf ")
    assert raw(command).endswith(">&2; false")


def test_the_engine_has_the_driver() -> None:
    with on("cgroupfs") as host:
        assert commands(docker_engine.running_driver) == []
    assert host.told == ["the engine's cgroup driver is cgroupfs"]


def test_no_engine() -> None:
    with on(engine=None) as host:
        assert commands(docker_engine.running_driver) == []
    assert host.told == ["no Docker engine on this node"]


@pytest.mark.parametrize(
    "case",
    [
        {"driver": "systemd"},
        {"driver": "cgroupfs", "interrupted": True},
        {"engine": DockerEngineState(Unknown("docker info: it is down"), None, None)},
    ],
)
def test_the_restart_is_begun(case: dict[str, Any]) -> None:
    with on(**case):
        (command,) = commands(docker_engine.running_driver)
    assert raw(command).startswith("sh -c ")
    assert "transaction" in given(command)
    assert command.connector_arguments["_timeout"] > 2 * 300


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"content": b"{}"}, "want cgroupfs written first"),
        ({"content": b"{"}, "the end of the file"),
        ({"content": RIGHT[:-1] + b', "hosts": []}'}, "hosts: saw it in the file and as -H"),
        ({"engine": Unknown("the node did not answer")}, "docker: the node did not answer"),
        ({"interrupted": Unknown("not allowed to look")}, "docker: not allowed to look"),
    ],
)
def test_the_restart_is_refused(case: dict[str, Any], words: str) -> None:
    with on(**case):
        (command,) = commands(docker_engine.running_driver)
    assert raw(command).startswith("printf ")
    assert words in raw(command)


def test_the_file_in_place_is_validated_before_the_restart() -> None:
    with on():
        (command,) = commands(docker_engine.running_driver)
    assert raw(command).endswith(f" {PATH} /usr/sbin/dockerd -H fd://")
