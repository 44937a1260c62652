"""What stops dockerd although its own validation passed the file."""

import pytest

from pyinfra_nvml.combiners.engine_config import given_flags, obstacles

DEBIAN = ("/usr/sbin/dockerd", "-H", "fd://", "--containerd=/run/containerd/containerd.sock")


def subjects(*args: object, **more: object) -> list[str]:
    return [found.subject for found in obstacles(*args, **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({}, []),
        ({"exec-opts": ["native.cgroupdriver=cgroupfs"]}, []),
        ({"exec-opts": ["native.cgroupdriver=nope"]}, ["exec-opts native.cgroupdriver"]),
        ({"exec-opts": ["native.cgroupdriver"]}, ["exec-opts native.cgroupdriver"]),
        ({"hosts": ["tcp://127.0.0.1:2375"]}, ["hosts"]),
        ({"containerd": "/run/other.sock"}, ["containerd"]),
        ({"default-runtime": "runc"}, []),
        ({"default-runtime": "io.containerd.runc.v2"}, []),
        ({"default-runtime": "nvidia"}, ["default-runtime"]),
        ({"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "x"}}}, []),
        ({"default-runtime": "nvidia", "runtimes": {"other": {}}}, ["default-runtime"]),
        ({"live-restore": True}, []),
        ({"cgroup-parent": "/gpu"}, []),
        (
            {"cgroup-parent": "/gpu", "exec-opts": ["native.cgroupdriver=systemd"]},
            ["cgroup-parent"],
        ),
        ({"cgroup-parent": "gpu.slice", "exec-opts": ["native.cgroupdriver=systemd"]}, []),
        ({"exec-opts": "text", "runtimes": [], "default-runtime": 1}, []),
    ],
)
def test_on_debian(config: dict[str, object], wanted: list[str]) -> None:
    assert subjects(config, DEBIAN) == wanted


@pytest.mark.parametrize("flag", [("--cgroup-parent", "/gpu"), ("--cgroup-parent=/gpu",)])
def test_a_parent_that_is_no_slice_stops_the_systemd_driver(flag: tuple[str, ...]) -> None:
    """Docker 20.10.24: `cgroup-parent for systemd cgroup should be a valid slice`."""
    config = {"exec-opts": ["native.cgroupdriver=systemd"]}
    assert subjects(config, ("dockerd", *flag)) == ["cgroup-parent"]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["--exec-opt", "native.cgroupdriver=systemd"], "exec-opts"),
        (["--exec-opt=native.cgroupdriver=systemd"], "exec-opts"),
        (["-H", "fd://"], "hosts"),
        (["-Hfd://"], "hosts"),
        (["-DH", "fd://"], "hosts"),
        (["-D"], "debug"),
        (["--live-restore=false"], "live-restore"),
        (["--registry-mirror", "https://mirror.example"], "registry-mirrors"),
        (["-g", "/srv/docker"], "graph"),
    ],
)
def test_flags_that_give_a_key(arguments: list[str], key: str) -> None:
    assert key in given_flags(["dockerd", *arguments])


def test_what_is_no_key_of_the_file() -> None:
    assert given_flags(["dockerd", "--config-file", "/x", "--", "--debug"]) == {}
    assert given_flags([]) == {}


def test_both_ways_is_refused_even_where_they_agree() -> None:
    both = {"exec-opts": ["native.cgroupdriver=systemd"]}
    (found,) = obstacles(both, ["dockerd", "--exec-opt", "native.cgroupdriver=systemd"])
    assert str(found) == (
        "exec-opts: saw it in the file and as --exec-opt on dockerd's command line, "
        "even if both agree, want one of the two"
    )


def test_runtimes_given_both_ways_stopped_docker_before_18_09() -> None:
    config = {"runtimes": {"nvidia": {"path": "x"}}}
    arguments = ["/usr/bin/dockerd", "--add-runtime=nvidia=/usr/bin/nvidia-container-runtime"]
    assert [one.subject for one in obstacles(config, arguments, "18.03.1-ce")] == ["runtimes"]
    assert obstacles(config, arguments, "18.09.0") == ()


def test_runtimes_may_be_given_both_ways() -> None:
    config = {"runtimes": {"nvidia": {"path": "x"}}, "default-runtime": "kata"}
    for flag in (["--add-runtime", "kata=/usr/bin/kata"], ["--add-runtime=kata=/usr/bin/kata"]):
        assert subjects(config, ["dockerd", *flag]) == []
    assert subjects(config, ["dockerd"]) == ["default-runtime"]


def test_live_restore_on_a_swarm() -> None:
    assert subjects({"live-restore": True}, swarm=True) == ["live-restore"]
    assert subjects({"live-restore": False}, swarm=True) == []


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("", []), ("27.5.1", []), ("28.0.0", ["exec-opts"]), ("29.2.0-rc1", ["exec-opts"])],
)
def test_other_options_from_docker_28(version: str, wanted: list[str]) -> None:
    config = {"exec-opts": ["native.cgroupdriver=cgroupfs", "isolation=process"]}
    assert subjects(config, version=version) == wanted


@pytest.mark.parametrize(
    ("config", "version", "wanted"),
    [
        ({"exec-opt": []}, "20.10.24+dfsg1", ["exec-opt"]),
        ({"exec-opt": []}, "26.1.5", []),
        ({"exec-opt": []}, "", []),
        ({"features": {"buildkit": True}, "log-opts": {"max-size": "1m"}}, "20.10.24", []),
        ({"tls-options": {"tlsverify": True, "nope": 1}}, "20.10.24", ["nope"]),
        ({"runtimes": {"nvidia": {"path": "x"}}, "default-ulimits": {"a": {}}}, "20.10.5", []),
    ],
)
def test_keys_that_docker_20_does_not_know(
    config: dict[str, object], version: str, wanted: list[str]
) -> None:
    assert subjects(config, version=version) == wanted
