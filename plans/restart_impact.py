"""What a restart of a node's engine stops, and what of it would be lost for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyinfra_nvml.combiners.daemon_document import Document, document
from pyinfra_nvml.combiners.engine import Start, of_node
from pyinfra_nvml.combiners.engine_proof import moved_root
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.engine_refusals import risks


@dataclass(frozen=True)
class RestartImpact:
    """The containers that stop, whether live-restore keeps the others, every reason against it."""

    stops: tuple[Inspected, ...] = ()
    live_restore: bool = False
    against: tuple[Refusal, ...] = ()


def restart_impact(
    node: NodeState, engine: DockerEngineState, content: bytes, driver: str
) -> RestartImpact:
    """The toll of a restart that reads this content of its daemon.json, and brings this driver."""
    start = of_node(node).next
    if isinstance(start, Unknown):
        # Its own reason stands against the plan.
        return RestartImpact((), False, tuple(risks(node, ())))
    read = document(content, start.path)
    config = read.value if isinstance(read, Document) else {}
    info = engine.info if isinstance(engine.info, EngineInfo) else None
    live_restore = bool(info and info.live_restore and start.keeps_containers(config))
    against = () if info is None else tuple(_moved(config, info, start))
    stops = _stopped(node, engine, live_restore)
    if isinstance(stops, Refusal):
        return RestartImpact((), live_restore, (*against, stops, *risks(node, ())))
    parents = tuple(_parents(stops, driver))
    return RestartImpact(stops, live_restore, (*against, *parents, *risks(node, stops)))


def _moved(config: Mapping[str, object], info: EngineInfo, start: Start) -> Iterator[Refusal]:
    """An edit that the engine has not seen yet and that its restart would make costly."""
    if root := moved_root(config, info, start):
        saw = f"data-root {root}, and an engine whose containers are in {info.root_directory}"
        instead = "restart docker by hand when its containers and images may go"
        yield Refusal(start.path, saw, "both alike", instead, Overrule.DATA_ROOT)


def _parents(stops: Iterable[Inspected], driver: str) -> Iterator[Refusal]:
    """The systemd driver starts no container below a parent that is no slice."""
    # moby daemon/daemon_unix.go, verifyPlatformContainerSettings.
    named = [
        f"{one.name} ({one.cgroup_parent})"
        for one in stops
        if one.cgroup_parent and not one.cgroup_parent.endswith(".slice")
    ]
    if driver == "systemd" and named:
        saw = f"--cgroup-parent of {', '.join(named)}, which Docker with systemd does not start"
        instead = "make them anew with a slice (NAME.slice) as their parent"
        yield Refusal("containers", saw, "parents that are slices", instead, Overrule.CGROUP_PARENT)


def _stopped(
    node: NodeState, engine: DockerEngineState, live_restore: bool
) -> tuple[Inspected, ...] | Refusal:
    if isinstance(node.docker_inspect, Unknown):
        want = "it readable, as root and with the engine up"
        return Refusal("running containers", node.docker_inspect.reason, want)
    if isinstance(engine.info, EngineInfo) and live_restore and _keeps_removable(engine.info):
        return ()
    return tuple(
        one for one in node.docker_inspect.containers if one.auto_remove or not live_restore
    )


def _keeps_removable(info: EngineInfo) -> bool:
    """Whether live-restore keeps --rm containers: 20.10.24 removed one at its start, 26.1.5 not."""
    return (release(info.server_version) or ()) >= (23,)
