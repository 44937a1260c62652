"""What ``docker inspect`` says of the running containers that bears on their GPU."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum

from typing_extensions import override

from pyinfra_nvml.facts.docker_cli import GUARD
from pyinfra_nvml.facts.json_values import mappings, text, texts
from pyinfra_nvml.facts.mig import CONFIG_NODE, MONITOR_NODE
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# One JSON object per container. Of the environment only the variables of NVIDIA's runtime leave
# the node (NVIDIA_API_KEY is a secret, and so may be what has another name):
# the others may hold secrets. The functions are those of the Docker CLI's templates (docker
# inspect --format, "Format command and log output").
_FIELDS = {
    "Id": "json .Id",
    "Name": "json .Name",
    "Status": "json .State.Status",
    "Pid": "json .State.Pid",
    "StartedAt": "json .State.StartedAt",
    "Image": "json .Config.Image",
    "Runtime": "json .HostConfig.Runtime",
    "Privileged": "json .HostConfig.Privileged",
    "CapAdd": "json .HostConfig.CapAdd",
    "Devices": "json .HostConfig.Devices",
    "DeviceRequests": "json .HostConfig.DeviceRequests",
    "CgroupParent": "json .HostConfig.CgroupParent",
    "RestartPolicy": "json .HostConfig.RestartPolicy.Name",
    "AutoRemove": "json .HostConfig.AutoRemove",
    "Pod": 'json (index .Config.Labels "io.kubernetes.pod.name")',
    "Service": 'json (index .Config.Labels "com.docker.swarm.service.name")',
    "Kind": 'json (index .Config.Labels "io.x-k8s.kind.cluster")',
    "Ecs": 'json (index .Config.Labels "com.amazonaws.ecs.cluster")',
}
_ENVIRONMENT = (
    '"Env":[{{range .Config.Env}}{{if or (eq (truncate . 15) "NVIDIA_VISIBLE_")'
    ' (eq (truncate . 14) "NVIDIA_DRIVER_") (eq (truncate . 11) "NVIDIA_MIG_")}}'
    "{{json .}},{{end}}{{end}}null]"
)
_ROW = "{" + ",".join(f'"{key}":{{{{{get}}}}}' for key, get in _FIELDS.items())
_ROW += "," + _ENVIRONMENT + "}"
_INSPECT = f"""{GUARD}
ids=$(docker ps --quiet --no-trunc) || exit
[ -z "$ids" ] || docker inspect --format '{_ROW}' $ids
"""

PROBE = Probe("docker_inspect.running", _INSPECT, limit=15, cap=2048)

_NVIDIA_NODE = re.compile(r"^/dev/(nvidia|dxg)")


class Request(str, Enum):
    """How a container asked for the GPU; fixed when it was created."""

    GPUS = "--gpus"
    CDI = "CDI"
    DEVICE = "--device"
    RUNTIME = "nvidia runtime"
    PRIVILEGED = "--privileged"
    MIG_CONFIG = "MIG config node"
    MIG_MONITOR = "MIG monitor node"


_MIG_NODES = {
    CONFIG_NODE: Request.MIG_CONFIG,
    MONITOR_NODE: Request.MIG_MONITOR,
}


@dataclass(frozen=True)
class Inspected(Value):
    """One running container of Docker. Times and names are Docker's own texts.

    .. code:: python

        Inspected(id="4f66...", name="trainer", pid=4242, status="running",
                  started="2026-11-30T09:14:00.1Z", requests=(Request.GPUS,),
                  restart_policy="unless-stopped", environment=("NVIDIA_VISIBLE_DEVICES=all",), ...)
    """

    id: str
    name: str = ""
    pid: int = 0
    status: str = ""
    started: str = ""
    image: str = ""
    runtime: str = ""
    requests: tuple[Request, ...] = ()
    cgroup_parent: str = ""
    restart_policy: str = ""
    auto_remove: bool = False
    pod: str = ""
    service: str = ""
    kind_cluster: str = ""
    ecs_cluster: str = ""
    environment: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True)
class DockerInspectState(Value):
    """Every container that a restart of the engine would stop (without live-restore)."""

    containers: tuple[Inspected, ...]


class DockerInspect(Source[DockerInspectState]):
    """Docker's running containers and how they come back; none where Docker is not installed.

    Source: ``docker ps`` and ``docker inspect`` (Docker 20.10 to 28.5, lab). Wants root or the
    group docker.
    """

    probes = (PROBE,)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> DockerInspectState | Unknown:
        found = containers(section(sections, PROBE.name))
        return found if isinstance(found, Unknown) else DockerInspectState(tuple(found.values()))


Running = DockerInspect  # the name before 0.2


_Row = dict[str, object]


def containers(answer: Section) -> dict[str, Inspected] | Unknown:
    """Id to container, of every running one; a container that ended meanwhile is no loss."""
    if answer.rc == 127:
        return {}
    found: dict[str, Inspected] = {}
    for line in answer.out.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return answer.trouble or Unknown(f"{answer.name}: a line of its answer is not JSON")
        if isinstance(row, dict) and isinstance(row.get("Id"), str):
            found[row["Id"]] = _container(row)
    gone = "no such object" in answer.err.lower()
    if answer.trouble and not (gone and answer.rc == 1):
        return answer.trouble
    return found


def _container(row: _Row) -> Inspected:
    pid = row.get("Pid")
    return Inspected(
        id=text(row.get("Id")),
        name=text(row.get("Name")).lstrip("/"),
        pid=pid if isinstance(pid, int) else 0,
        status=text(row.get("Status")),
        started=text(row.get("StartedAt")),
        image=text(row.get("Image")),
        runtime=text(row.get("Runtime")),
        requests=_requests(row),
        cgroup_parent=text(row.get("CgroupParent")),
        restart_policy=text(row.get("RestartPolicy")),
        auto_remove=row.get("AutoRemove") is True,
        pod=text(row.get("Pod")),
        service=text(row.get("Service")),
        kind_cluster=text(row.get("Kind")),
        ecs_cluster=text(row.get("Ecs")),
        environment=texts(row.get("Env")),
        capabilities=texts(row.get("CapAdd")),
    )


def _requests(row: _Row) -> tuple[Request, ...]:
    found = []
    for request in mappings(row.get("DeviceRequests")):
        names = texts(request.get("DeviceIDs"))
        if request.get("Driver") == "cdi" or any("=" in name for name in names):
            found.append(Request.CDI)
        elif "gpu" in str(request.get("Capabilities")):
            found.append(Request.GPUS)
    devices = [str(device.get("PathOnHost")) for device in mappings(row.get("Devices"))]
    if any(_NVIDIA_NODE.match(path) for path in devices):
        found.append(Request.DEVICE)
    found += [request for path, request in _MIG_NODES.items() if path in devices]
    if "nvidia" in str(row.get("Runtime")):
        found.append(Request.RUNTIME)
    if row.get("Privileged") is True:
        found.append(Request.PRIVILEGED)
    return tuple(dict.fromkeys(found))
