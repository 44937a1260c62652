"""A daemon.json that this engine was never started with: no restart where nothing proves it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from pyinfra_nvml.combiners.engine import Start, of_node
from pyinfra_nvml.combiners.engine_proof import unproven
from pyinfra_nvml.facts.docker_engine import DockerEngineState, EngineInfo
from pyinfra_nvml.facts.last_write import LastWriteState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.refusal import Overrule, Refusal
from pyinfra_nvml.model.unknown import Unknown

_INSTEAD = "restart docker by hand, at a time when it may fail, or take the edit back"


def unproven_config(
    node: NodeState, engine: DockerEngineState, last: LastWriteState | Unknown | None
) -> Iterator[Refusal]:
    """Why the file as it is may keep the engine down; ours alone is the entry of the last write."""
    starts = of_node(node)
    if starts.new_flags:
        saw = f"{', '.join(starts.new_flags)}, which the running engine was not started with"
        want = "flags that the engine runs with"
        yield Refusal("docker.service", saw, want, _INSTEAD, Overrule.UNPROVEN_CONFIG)
    files = node.daemon_json
    file = None if isinstance(files, Unknown) else files.at(starts.path)
    if file is None or not isinstance(engine.info, EngineInfo):
        return
    if not isinstance(starts.next, Start) or not isinstance(file.content, bytes):
        return
    if isinstance(last, LastWriteState) and _is_ours(file.path, file.content, last):
        return
    for reason in unproven(file, engine.info, starts.next):
        want = "a file that the engine runs with"
        yield Refusal(file.path, reason, want, _INSTEAD, Overrule.UNPROVEN_CONFIG)


def _is_ours(path: str, content: bytes, last: LastWriteState) -> bool:
    """Whether it is what this project wrote: it was proven, or overruled, when it was written."""
    total = hashlib.sha256(content).hexdigest()
    return last.unproven and last.path == path and last.after_sum == total
