"""Recorded nodes hold nothing private, are whole, and say where they were seen."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Section, read_frame
from pyinfra_nvml.model.unknown import Unknown
from tests import recordings
from tests.private import UUID, clean, here, private
from tests.record import save

RECORDED = sorted(recordings.NODES.glob("*/recording.txt"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_nothing_private_slipped(path: Path) -> None:
    assert private(path.read_text()) == set()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_the_recording_is_whole_and_names_its_origin(path: Path) -> None:
    first, *lines = path.read_text().splitlines()
    assert first.startswith(("# seen on ", "# made up after ")), first
    assert lines[-1].startswith("@end ")
    answered = read_frame(lines)
    assert lines[-1] == f"@end {len(answered)}"
    assert set(answered) <= {probe.name for probe in Node.probes}


SECRETS = {
    "uuid": "57de798d-6778-4ca1-ad01-bd50933c1910",
    "gpu": "GPU-8f3a1c2e-1111-4222-8333-444455556666",
    "mig": "MIG-8f3a1c2e-1111-4222-8333-444455557777",
    "engine": ":".join(["ABCD", "EFGH", "IJKL"] * 4),
    "address": "10.1.2.3",
    "address_6": "fe80::1ff:fe23:4567:890a",
    "mac": "3c:ec:ef:12:34:56",
    "login": "http://bob:hunter2@proxy",
    "home": "/home/bob/.docker/cli-plugins",
    "serial": "GPU Board Serial Number: 1653219012345",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_what_is_private_is_seen_and_replaced(kind: str) -> None:
    line = f"|saw {SECRETS[kind]} there"
    assert private(line)
    (cleaned,) = clean([line])
    assert private(cleaned) == set()
    assert SECRETS[kind] not in cleaned


def test_the_names_of_this_machine_are_private() -> None:
    assert all(private(f"|host {name}") for name in here())


def test_two_gpus_stay_two() -> None:
    one, other, again = clean([f"|{SECRETS[k]}" for k in ("gpu", "mig", "gpu")])
    assert one == again != other
    assert UUID.search(one)


DAEMON = b"""{
  "exec-opts": ["native.cgroupdriver=systemd"],
  "proxies": {"http-proxy": "http://bob:hunter2@proxy.acme.example:3128"},
  "registry-mirrors": ["https://mirror.acme.example"],
  "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}},
  "log-opts": {"splunk-token": "s3cret"}
}
"""
ROW = {
    "Id": "1" * 64,
    "Name": "/acme-train",
    "Image": "registry.acme.example/team/train:1",
    "Env": ["NVIDIA_VISIBLE_DEVICES=GPU-8f3a1c2e-1111-4222-8333-444455556666"],
}
INFO = {"Name": "gpu7", "ServerVersion": "28.5.2", "Labels": ["rack=a7"], "HttpProxy": "p.acme"}


def node_that_has_secrets() -> list[str]:
    answers = recordings.sections("trixie_exposed")
    data = base64.encodebytes(DAEMON).decode().replace("\n", "\ndata ").removesuffix("data ")
    given = {
        "daemon_json.files": f"file /etc/docker/daemon.json\nlink 81a4\n"
        f"stat 81a4 0 0 {len(DAEMON)}\ntarget /etc/docker/daemon.json\ndata {data}",
        "docker_inspect.running": json.dumps(ROW) + "\n",
        "docker_engine.info": json.dumps(INFO) + "\n",
        "daemons.processes": "process 9 dockerd\nuid 0\nnspid 9\narg /usr/bin/dockerd\narg -H\n"
        "arg fd://\narg --label\narg rack=a7\narg --registry-mirror=https://m.acme\nhidepid 0\n",
        "systemd_manager.journal": "2026-11-30T10:53:08+00:00 gpu7 systemd[1]: Reloading.\n",
    }
    for name, out in given.items():
        answers[name] = Section(name, 0, out)
    return recordings.frames(answers)


def test_a_node_is_recorded_without_its_secrets(tmp_path: Path) -> None:
    path = save(node_that_has_secrets(), "gpu", "Debian 13", hosts=["gpu7"], place=tmp_path)
    lines = path.read_text().splitlines()
    text = path.read_text()
    state = Node.parse(read_frame(lines))
    assert not isinstance(state, Unknown)
    assert not isinstance(state.daemon_json, Unknown)
    content = state.daemon_json.files[0].content
    assert isinstance(content, bytes), content
    for secret in ("acme", "bob", "hunter2", "s3cret", "gpu7", "rack=a7", "8f3a1c2e"):
        assert secret not in text
        assert secret not in content.decode()
    document = json.loads(content)
    assert document["exec-opts"] == ["native.cgroupdriver=systemd"]
    assert document["runtimes"] == {"nvidia": {"path": "nvidia-container-runtime"}}
    assert list(document) == list(json.loads(DAEMON))
    assert not isinstance(state.daemons, Unknown)
    arguments = state.daemons.daemons[0].arguments
    assert arguments == ("/usr/bin/dockerd", "-H", "fd://", "--label", "x", "--registry-mirror=x")


def test_half_an_answer_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="want the whole answer"):
        save(node_that_has_secrets()[:40], "gpu", "Debian 13", place=tmp_path)
