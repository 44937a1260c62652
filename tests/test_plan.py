"""What the fix would do to a node: changes, or every reason against them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from pyinfra_nvml.plans import engine_plan_text as plan_text
from pyinfra_nvml.plans.engine_plan import Plan, plan_engine
from tests import recordings

INFO = (
    '{"ServerVersion": "26.1.5", "CgroupDriver": "%s", "CgroupVersion": "2",'
    ' "Swarm": {"LocalNodeState": "%s"}, "LiveRestoreEnabled": %s}'
)


def file(content: bytes, path: str = "/etc/docker/daemon.json") -> dict[str, str]:
    """The answer of the daemon.json probe for one file."""
    lines = [
        f"file {path}",
        "link 81a4",
        f"stat 81a4 0 0 {len(content)}",
        f"target {path}",
        f"data {base64.b64encode(content).decode()}",
    ]
    return {"out": "\n".join(lines) + "\n"}


def planned(node: str = "trixie_exposed", **answers: Any) -> Plan:
    """The plan of a recorded node; ``docker_engine__info=...`` replaces docker_engine.info."""
    named = {name.replace("__", "."): answer for name, answer in answers.items()}
    return plan_engine(recordings.node(node, named), "cgroupfs")


def dockerd(*arguments: str) -> dict[str, str]:
    """The answer of the daemons probe: one dockerd with these arguments."""
    lines = ["process 99 dockerd", "uid 0 0 0 0", "nspid 99", *(f"arg {a}" for a in arguments)]
    return {"out": "\n".join([*lines, "hidepid 0"]) + "\n"}


def unit(*flags: str) -> dict[str, str]:
    """The answer of the unit's probe: docker.service starts dockerd with these flags."""
    line = " ".join(("/usr/sbin/dockerd", *flags))
    start = f"ExecStart={{ path=/usr/sbin/dockerd ; argv[]={line} ; ignore_errors=no ; pid=99 }}"
    return {"out": f"asked\n{start}\nLoadState=loaded\nNeedDaemonReload=no\n"}


def test_the_exposed_node_is_written_restarted_and_proven() -> None:
    made = planned()
    assert made.refusals == ()
    assert made.after == b'{\n    "exec-opts": ["native.cgroupdriver=cgroupfs"]\n}\n'
    assert made.restart
    assert {container.name for container in made.exposed} == {"trainer", "notebook"}
    assert {container.name for container in made.stops} == {"trainer", "notebook", "web"}


def test_a_node_on_cgroupfs_has_nothing_to_do() -> None:
    made = planned("forky_cgroupfs")
    assert not made.acts
    assert made.idle == "the engine is on cgroupfs already"


def test_a_node_whose_docker_is_podman_has_nothing_to_do() -> None:
    made = planned("gpu_rhel_podman")
    assert not made.acts
    assert not made.refusals
    assert made.idle == "docker is podman here: it reads no daemon.json"


def test_a_node_without_docker_has_nothing_to_do() -> None:
    made = planned("blank", daemons__processes={"out": "hidepid 0\n"})
    assert not made.acts
    assert made.idle == "no Docker engine on this node"


def test_the_live_driver_is_right_and_the_file_would_undo_it() -> None:
    content = b'{"exec-opts": ["native.cgroupdriver=systemd"]}'
    made = planned("forky_cgroupfs", daemon_json__files=file(content))
    assert made.after == b'{"exec-opts": ["native.cgroupdriver=cgroupfs"]}'
    assert not made.restart


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no root": (
        {"machine__self": {"out": "uid 1000\nkernel 6.12\narchitecture x86_64\n"}},
        "user: saw uid 1000, want root",
    ),
    "trailing comma": (
        {"daemon_json__files": file(b'{\n  "debug": true,\n}\n')},
        "/etc/docker/daemon.json, line 2, column 16: saw a comma before }",
    ),
    "flag": (
        {"engine_setup__ask": unit("-H", "fd://", "--exec-opt", "native.cgroupdriver=systemd")},
        "take --exec-opt out of the unit",
    ),
    "hosts twice": (
        {"daemon_json__files": file(b'{"hosts": ["tcp://127.0.0.1:2375"]}')},
        "hosts: saw it in the file and as -H",
    ),
    "kubelet on docker": (
        {
            "daemons__processes": {
                "out": "process 99 dockerd\nuid 0\nnspid 99\narg /usr/sbin/dockerd\n"
                "process 120 kubelet\nuid 0\nnspid 120\narg /usr/bin/kubelet\n"
                "arg --container-runtime-endpoint=unix:///run/cri-dockerd.sock\n"
                "process 130 cri-dockerd\nuid 0\nnspid 130\narg /usr/bin/cri-dockerd\nhidepid 0\n"
            }
        },
        "use GPU Operator 22.9.2 or newer",
    ),
    "swarm with live-restore": (
        {"docker_engine__info": {"out": INFO % ("systemd", "active", "true")}},
        "live-restore: saw on, on a node of a swarm",
    ),
    "rootless": (
        {
            "docker_engine__info": {
                "out": '{"ServerVersion": "27.1", "CgroupDriver": "systemd",'
                ' "SecurityOptions": ["name=rootless"]}'
            }
        },
        "Docker engine: saw rootless",
    ),
    "Docker Desktop": (
        {
            "docker_engine__info": {
                "out": '{"ServerVersion": "27.1", "CgroupDriver": "systemd",'
                ' "OperatingSystem": "Docker Desktop"}'
            }
        },
        "change it in Docker Desktop's settings",
    ),
    "snap": (
        {
            "daemons__processes": dockerd(
                "dockerd",
                "--exec-root=/run/snap.docker",
                "--config-file=/var/snap/docker/2932/config/daemon.json",
            )
        },
        "its file is under /var/snap/docker",
    ),
    "read-only /etc": (
        {
            "daemon_json__files": {
                "out": file(b"{}")["out"]
                + "kept /etc/docker/ takes no new file: read-only or immutable"
            }
        },
        "daemon.json: saw /etc/docker/ takes no new file",
    ),
    "two engines": (
        {
            "daemons__processes": {
                "out": "process 99 dockerd\nuid 0\nnspid 99\narg /usr/sbin/dockerd\n"
                "process 200 dockerd\nuid 0\nnspid 200\narg /usr/bin/dockerd\nhidepid 0\n"
            }
        },
        "saw 2 dockerd: 99, 200, want one engine",
    ),
    "engine does not answer": (
        {"docker_engine__info": {"rc": 124}},
        "Docker engine: saw docker_engine.info: timed out",
    ),
    "containers not to be listed": (
        {"docker_inspect__running": {"rc": 124}},
        "running containers: saw docker_inspect.running: timed out",
    ),
    "processes not to be looked at": (
        {"stuck_processes__twice": {"rc": "hung"}},
        "processes in state D: saw stuck_processes.twice: hung",
    ),
    "a process in state D": (
        {
            "stuck_processes__twice": {
                "out": f"stuck 4242 python3\ncgroup 0::/docker/{'4' * 64}\n",
            }
        },
        "processes in state D: saw python3 (4242), want none in a container",
    ),
    "NixOS": (
        {"machine__files": {"rc": 2, "out": "/etc/os-release:ID=nixos\n"}},
        "set virtualisation.docker.daemon.settings",
    ),
    "file not to be read": (
        {"daemon_json__files": {"rc": "hung"}},
        "/etc/docker/daemon.json: saw daemon_json.files: hung",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    answers, text = REFUSED[case]
    made = planned(**answers)
    assert not made.acts
    told = list(plan_text.engine_plan_lines(made, diff=True))
    assert all(line.startswith("refused: ") for line in told), told
    assert any(text in line for line in told), told


def test_every_reason_is_told_at_once() -> None:
    answers = {
        **REFUSED["no root"][0],
        **REFUSED["trailing comma"][0],
        **REFUSED["swarm with live-restore"][0],
    }
    assert len(planned(**answers).refusals) == 3


RISKS = {
    "remove": '"AutoRemove": true',
    "paused": '"Status": "paused"',
    "ecs": '"Ecs": "arn:cluster"',
}


@pytest.mark.parametrize("setting", RISKS)
def test_a_risk_is_refused_until_it_is_overruled(setting: str) -> None:
    row = f'{{"Id": "{"5" * 64}", "Name": "/x", {RISKS[setting]}}}\n'
    node = recordings.node("trixie_exposed", {"docker_inspect.running": {"out": row}})
    made = plan_engine(node, "cgroupfs")
    assert [refusal.overrule for refusal in made.refusals] == [setting]
    assert not made.acts
    assert plan_engine(node, "cgroupfs", overrule=[setting]).acts


def test_gpu_containers_are_not_stopped_where_none_would_start_again() -> None:
    node = recordings.node("gpu_skew")
    (refusal,) = plan_engine(node, "cgroupfs").refusals
    assert str(refusal) == (
        "driver: saw module 550.90.07, libnvidia-ml 550.107.02; trainer would not start again, want"
        " one version; first do what driver-skew says; a reboot brings both (overrule = 'skew')"
    )
    assert plan_engine(node, "cgroupfs", overrule=["skew"]).acts


def test_what_would_break_the_host_cannot_be_overruled() -> None:
    answers, _ = REFUSED["kubelet on docker"]
    named = {name.replace("__", "."): answer for name, answer in answers.items()}
    node = recordings.node("trixie_exposed", named)
    assert plan_engine(node, "cgroupfs", overrule=["kubelet", ""]).refusals


def test_unknown_cgroups_are_a_reason_against_systemd_alone() -> None:
    node = recordings.node("trixie_exposed", {"cgroup.mounts": {"rc": "hung"}})
    assert plan_engine(node, "cgroupfs").refusals == ()
    on_cgroupfs = recordings.node("forky_cgroupfs", {"cgroup.mounts": {"rc": "hung"}})
    (refusal,) = plan_engine(on_cgroupfs, "systemd").refusals
    assert str(refusal).startswith("cgroup hierarchy: saw cgroup.mounts: hung")


LIVE: dict[str, Any] = {"docker_engine__info": {"out": INFO % ("systemd", "inactive", "true")}}


def test_with_live_restore_no_container_stops() -> None:
    made = planned(**LIVE, daemon_json__files=file(b'{"live-restore": true}'))
    assert made.restart
    assert made.stops == ()


def test_live_restore_taken_out_of_the_file_stops_them() -> None:
    made = planned(**LIVE, daemon_json__files=file(b"{}"))
    assert len(made.stops) == 3


def test_another_data_root_is_refused_until_it_is_overruled() -> None:
    info = (
        '{"ServerVersion": "26.1", "CgroupDriver": "systemd", "DockerRootDir": "/var/lib/docker"}'
    )
    answers = {
        "docker_engine.info": {"out": info},
        "daemon_json.files": file(b'{"data-root": "/srv/docker"}'),
    }
    node = recordings.node("trixie_exposed", answers)
    assert [refusal.overrule for refusal in plan_engine(node, "cgroupfs").refusals] == ["data-root"]
    assert plan_engine(node, "cgroupfs", overrule=["data-root"]).acts


def test_the_words_name_what_stops_and_how_it_comes_back() -> None:
    told = "\n".join(plan_text.engine_plan_lines(planned(), diff=True))
    assert "docker: restart, 3 containers stop" in told
    assert "web: comes back by its policy (always)" in told
    assert '+    "exec-opts": ["native.cgroupdriver=cgroupfs"]' in told
