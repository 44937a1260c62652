"""What speaks against changing the cgroup driver of a node, each with what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from facts.docker_engine import DockerEngine, EngineInfo
from facts.node import NodeState
from facts.unknown import Unknown


@dataclass(frozen=True)
class Refusal:
    """One reason to leave a node alone: what was seen, what would be wanted, what to do instead."""

    subject: str
    saw: str
    want: str
    instead: str = ""

    @override
    def __str__(self) -> str:
        more = f"; {self.instead}" if self.instead else ""
        return f"{self.subject}: saw {self.saw}, want {self.want}{more}"


def refusals(node: NodeState, engine: DockerEngine, driver: str) -> Iterator[Refusal]:
    """Every reason that the node itself gives; those of daemon.json come from its plan."""
    yield from _user(node)
    yield from _kubernetes(node)
    yield from _variant(node, engine)
    if isinstance(engine.info, Unknown):
        yield Refusal("Docker engine", engine.info.reason, "an engine that answers docker info")
    elif engine.info.live_restore and engine.info.swarm == "active":
        yield Refusal("live-restore", "on, on a node of a swarm", "one of the two")
    if driver == "systemd" and isinstance(node.hierarchy, Unknown):
        yield Refusal("cgroup hierarchy", node.hierarchy.reason, "it known for the systemd driver")


def _user(node: NodeState) -> Iterator[Refusal]:
    uid = node.machine if isinstance(node.machine, Unknown) else node.machine.uid
    if isinstance(uid, Unknown):
        yield Refusal("user", uid.reason, "root")
    elif uid != 0:
        yield Refusal("user", f"uid {uid}", "root", "set _sudo = True for this host")


def _kubernetes(node: NodeState) -> Iterator[Refusal]:
    """Kubelet and the runtime need the same driver; the Docker cure alone splits them."""
    kubelet = node.kubelet
    if kubelet is None:
        return
    instead = (
        "use GPU Operator 22.9.2 or newer, the device plugin with PASS_DEVICE_SPECS (helm"
        " compatWithCPUManager=true), or CDI"
    )
    if isinstance(kubelet, Unknown):
        yield Refusal("kubelet", kubelet.reason, "to know whether it uses this Docker", instead)
        return
    on_docker = kubelet.on_docker
    if isinstance(on_docker, Unknown):
        yield Refusal("kubelet", on_docker.reason, "to know whether it uses this Docker", instead)
    elif on_docker:
        yield Refusal("kubelet", "its pods run on this Docker", "both drivers alike", instead)


def _variant(node: NodeState, engine: DockerEngine) -> Iterator[Refusal]:
    info = engine.info
    if isinstance(info, EngineInfo) and info.rootless:
        yield Refusal(
            "Docker engine",
            "rootless",
            "the system's engine",
            "rootless containers do not lose devices this way; nothing is to be done",
        )
    if isinstance(info, EngineInfo) and info.operating_system == "Docker Desktop":
        yield Refusal(
            "Docker engine",
            "Docker Desktop",
            "an engine on this node",
            "change it in Docker Desktop's settings",
        )
    process = engine.process
    if process is None or isinstance(process, Unknown):
        if isinstance(info, EngineInfo):
            saw = "none on this node" if process is None else process.reason
            yield Refusal("dockerd process", saw, "the engine that docker talks to, on this node")
    elif process.arguments and process.arguments[0].startswith("/snap/"):
        yield Refusal(
            "Docker engine",
            "the snap",
            "Docker's or the distribution's package",
            "the snap uses CDI by default; its file is under /var/snap/docker",
        )
    daemons = node.daemons
    running = () if isinstance(daemons, Unknown) else daemons.named("dockerd")
    if len(running) > 1:
        saw = f"{len(running)} dockerd: {', '.join(str(d.pid) for d in running)}"
        yield Refusal("Docker engine", saw, "one engine on the node")
