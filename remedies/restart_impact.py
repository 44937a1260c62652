"""What a restart of a node's engine stops, and what of it would be lost for good."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.combiners.daemon_document import Document, document
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.docker_inspect import Inspected
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.remedies.engine_refusals import risks


@dataclass(frozen=True)
class Toll:
    """The containers that stop, whether live-restore keeps the others, every reason against it."""

    stops: tuple[Inspected, ...] = ()
    live_restore: bool = False
    against: tuple[Refusal, ...] = ()


def toll(node: NodeState, engine: DockerEngineState, content: bytes, path: str) -> Toll:
    """The toll of a restart that reads this content of its daemon.json."""
    live_restore = _keeps_running(content, engine, path)
    against = _pending(content, engine, path)
    stops = _stopped(node, engine, live_restore)
    if isinstance(stops, Refusal):
        return Toll((), live_restore, (*against, stops, *risks(node, ())))
    return Toll(stops, live_restore, (*against, *risks(node, stops)))


def _keeps_running(content: bytes, engine: DockerEngineState, path: str) -> bool:
    """Whether containers outlive a restart: live-restore is on now, and in the file read then."""
    if not (isinstance(engine.info, EngineInfo) and engine.info.live_restore):
        return False
    read = document(content, path)
    named = isinstance(read, Document) and read.value.get("live-restore") is True
    flags = ("--live-restore", "--live-restore=true")
    return named or any(argument in flags for argument in engine.arguments)


def _pending(content: bytes, engine: DockerEngineState, path: str) -> tuple[Refusal, ...]:
    """An edit that the engine has not seen yet and that its restart would make costly."""
    read = document(content, path)
    root = read.value.get("data-root") if isinstance(read, Document) else None
    info = engine.info
    if not isinstance(info, EngineInfo) or not isinstance(root, str) or not info.root_directory:
        return ()
    # With userns-remap the engine's own directory is one below data-root (dockerd(8)).
    if f"{info.root_directory}/".startswith(f"{root.rstrip('/')}/"):
        return ()
    saw = f"data-root {root}, and an engine whose containers are in {info.root_directory}"
    instead = "restart docker by hand when its containers and images may go"
    return (Refusal(path, saw, "both alike", instead, Overrule.DATA_ROOT),)


def _stopped(
    node: NodeState, engine: DockerEngineState, live_restore: bool
) -> tuple[Inspected, ...] | Refusal:
    if isinstance(engine.info, EngineInfo) and live_restore and _keeps_removable(engine.info):
        return ()
    if isinstance(node.docker_inspect, Unknown):
        want = "it readable, as root and with the engine up"
        return Refusal("running containers", node.docker_inspect.reason, want)
    return tuple(
        one for one in node.docker_inspect.containers if one.auto_remove or not live_restore
    )


def _keeps_removable(info: EngineInfo) -> bool:
    """Whether live-restore keeps --rm containers: 20.10.24 removed one at its start, 26.1.5 not."""
    return (release(info.server_version) or ()) >= (23,)
