"""Every Docker engine of this node was looked into.

A package, the docker snap and rootless engines of users can run beside each other, each with its
own containers and its own daemon.json. `docker` talks to one of them only: the others are not
judged by what it says, and their GPU containers are known from /proc alone. A package and the snap
take each other's /var/run/docker.sock, so which one answers may change with a restart.

Bad:

    dockerd 612 of docker.service, dockerd 2269 of the snap; docker info by the snap

Good:

    dockerd 612 of docker.service; docker info by it

Repair: by hand: remove the engine that is not wanted, or audit the other one by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.daemons import Daemon
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.CGROUP


def check(node: NodeState) -> Iterator[Outcome]:
    """Engines beside the one that answered."""
    daemons = node.daemons
    if isinstance(daemons, Unknown):
        yield Undetermined("Docker engines", daemons.reason)
        return
    # Between fork and exec a child of dockerd still looks like it.
    running = {(one.uid, one.arguments): one for one in reversed(daemons.named("dockerd"))}
    if daemons.hidden:
        yield Undetermined("Docker engines", "/proc hides other users' processes")
    elif not running:
        yield NotApplicable("no dockerd runs on this node")
    else:
        yield from _looked_into(node, list(running.values())[::-1])


def _looked_into(node: NodeState, running: list[Daemon]) -> Iterator[Outcome]:
    engine = node.docker_engine if isinstance(node.docker_engine, DockerEngineState) else None
    info = engine.info if engine else None
    judged = engine.process if engine and isinstance(info, EngineInfo) else None
    others = [one for one in running if one != judged]
    if len(running) > 1:
        yield _several(running, judged if isinstance(judged, Daemon) else None)
    reason = "docker does not talk to this one: its settings and requests were not seen"
    if judged is None:
        reason = info.reason if isinstance(info, Unknown) else "docker did not answer"
    for other in others:
        yield Undetermined(_called(other), reason)


def _several(running: list[Daemon], judged: Daemon | None) -> Finding:
    return Finding(
        level=Level.ADVICE,
        subject="Docker engines",
        saw=f"{len(running)} on this node; judged: {_called(judged) if judged else 'none'}",
        want="one engine, or an audit of each",
        why="what the other checks say of Docker holds for the one that docker talks to",
        repair=Repair.MANUAL,
        do="remove the one that you do not want (snap remove docker, or the package), or look at"
        " the other one by its own socket (docker context)",
        avoid="deploys/fix_cgroup.py before it is clear which engine has the GPU containers",
        evidence=tuple(f"{_called(one)}: {' '.join(one.arguments)}"[:200] for one in running),
    )


def _called(engine: Daemon) -> str:
    kind = "the snap" if engine.snap else f"user {engine.uid}" if engine.uid > 0 else "root"
    return f"dockerd {engine.pid} of {kind}"
