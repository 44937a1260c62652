"""The proof of a cure: the engine's driver, and every container that was exposed before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyinfra_nvml.facts.docker_engine import DockerEngineState
from pyinfra_nvml.facts.gpu_containers import GpuContainersState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.cure_proof import cure_shortcomings
from tests import recordings

OUT = Unknown("timed out")
NO_RULE = "saw it still in its old scope, no rule for nvidiactl, nvidia0; want it started again"
REFUSED = "saw nvidiactl, nvidia0 refused, want it reachable"
DRIVER = "Docker engine: saw driver systemd, want cgroupfs"


def exposed(node: NodeState) -> dict[str, str]:
    assert isinstance(node.gpu_containers, GpuContainersState)
    return {one.id: one.name for one in node.gpu_containers.containers}


def missed(node: NodeState, driver: str = "cgroupfs") -> list[str]:
    return list(cure_shortcomings(node, driver, exposed(recordings.node("trixie_exposed"))))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("forky_cgroupfs", []),
        ("legacy_v1", []),
        (
            "trixie_exposed",
            [DRIVER, f"container notebook: {NO_RULE}", f"container trainer: {NO_RULE}"],
        ),
        (
            "bookworm_lost",
            [
                DRIVER,
                f"container notebook: {REFUSED}",
                f"container notebook: {NO_RULE}",
                f"container trainer: {REFUSED}",
                f"container trainer: {NO_RULE}",
            ],
        ),
        # Out of its scope, but what was lost stays lost.
        ("gpu_config", [f"container trainer: {REFUSED}"]),
    ],
)
def test_what_is_not_cured_is_told(name: str, told: list[str]) -> None:
    node = recordings.node(name)
    found = list(cure_shortcomings(node, "cgroupfs", exposed(node)))
    assert len(found) == len(told)
    for line, start in zip(found, told, strict=True):
        assert line.startswith(start)


def test_a_container_that_did_not_come_back_is_not_cured() -> None:
    """Nor is one that came back as another container of its name looked for by its old id."""
    assert missed(recordings.node("forky_cgroupfs")) == [
        "container notebook: saw it not running, want it running with its devices"
    ]


def test_one_made_anew_is_looked_at_by_its_name() -> None:
    """A systemd unit that runs `docker rm` and `docker run --name` gives it another id."""
    node = recordings.node("forky_cgroupfs")
    (name,) = exposed(node).values()
    assert list(cure_shortcomings(node, "cgroupfs", {"0" * 64: name})) == []
    lost = recordings.node("bookworm_lost")
    anew = {str(at): name for at, name in enumerate(exposed(lost).values())}
    assert list(cure_shortcomings(lost, "systemd", anew)) == list(
        cure_shortcomings(lost, "systemd", exposed(lost))
    )


def test_what_a_restart_ends_for_good_need_not_be_there() -> None:
    node = recordings.node("forky_cgroupfs")
    gone = {"0" * 64: "brief", "1" * 64: "task"}
    (line,) = cure_shortcomings(node, "cgroupfs", gone, parting={"0" * 64})
    assert line.startswith("container task: saw it not running")


def test_an_engine_that_cannot_be_asked_is_not_proven() -> None:
    node = recordings.node("forky_cgroupfs")
    assert isinstance(node.docker_engine, DockerEngineState)
    for engine, saw in (
        (None, "none on this node"),
        (OUT, "timed out"),
        (replace(node.docker_engine, info=OUT), "timed out"),
    ):
        (line,) = cure_shortcomings(replace(node, docker_engine=engine), "cgroupfs", {})
        assert line == f"Docker engine: saw {saw}, want driver cgroupfs"


def test_a_container_that_cannot_be_looked_at_is_not_proven() -> None:
    node = recordings.node("forky_cgroupfs")
    assert isinstance(node.gpu_containers, GpuContainersState)
    (line,) = cure_shortcomings(replace(node, gpu_containers=OUT), "cgroupfs", exposed(node))
    assert line == "containers: saw timed out, want each looked at again"
    (container,) = node.gpu_containers.containers
    assert not isinstance(container.nodes, Unknown)
    (first, *others) = container.nodes
    unopened = (replace(first, answer=OUT), *others)
    for other, want in (
        (replace(container, nodes=OUT), "each device opened"),
        (replace(container, scope=OUT), "it out of systemd's hands"),
        (replace(container, nodes=unopened), f"/dev/{first.name} opened"),
    ):
        containers = replace(node.gpu_containers, containers=(other,))
        (line,) = cure_shortcomings(
            replace(node, gpu_containers=containers), "cgroupfs", exposed(node)
        )
        assert line == f"container trainer: saw timed out, want {want}"
