"""Docker and NVIDIA's toolkit on a described node."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from pyinfra_nvml.model.release import release

UNIT = ("-H", "fd://", "--containerd=/run/containerd/containerd.sock")
"""The options of Docker's own unit (moby, contrib/init/systemd/docker.service)."""


def arguments(said: Mapping[str, Any]) -> list[str]:
    """dockerd's command line: ``program`` and ``flags`` where they are not Docker's own."""
    return [said.get("program", "/usr/bin/dockerd"), *said.get("flags", UNIT)]


def answers(said: Mapping[str, Any] | None, node: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``version``, ``driver`` and ``runc``, and what differs: ``info`` holds further keys of
    ``docker info``, ``unit`` the command line of the next start, ``on_disk`` that of the start
    after a daemon-reload, ``edited`` whether the file was changed since the engine's start (none:
    not known), ``variant`` a kind of Docker;
    ``None`` is a node without Docker."""
    if said is None:
        return {
            "docker_engine.info": {"rc": 127},
            "docker_engine.unit": {"out": "LoadState=not-found\n"},
            "engine_setup.ask": {"out": "asked\nLoadState=not-found\n"},
            "docker_inspect.running": {"rc": 127},
            "runtime_versions.ask": {"out": _versions(node)},
        }
    line = " ".join([arguments(said)[0], *said.get("unit", said.get("flags", UNIT))])
    variants = [f"variant {variant}" for variant in said.get("variants", ())]
    reload = "yes" if "on_disk" in said or "on_disk_strange" in said else "no"
    setup = [*variants, "asked", f"ExecStart={{ path=/usr/bin/dockerd ; argv[]={line} ; "
             "ignore_errors=no ; start_time=[n/a] }", "LoadState=loaded",
             f"NeedDaemonReload={reload}"]  # fmt: skip
    if reload == "yes":
        setup += ["loaded", "disk /etc/systemd/system/docker.service.d/site.conf"]
    if "on_disk" in said:
        words = (arguments(said)[0], *said["on_disk"])
        setup += ["start", "start", *(f"word {word}" for word in words)]
    elif reload == "yes":
        setup += ["unreadable"]
    return {
        "docker_engine.info": {"out": json.dumps(_info(said, node))},
        "docker_engine.unit": {
            "out": "LoadState=loaded\nActiveState=active\nSubState=running\nMainPID=601\n"
            f"UnitFileState=enabled\nDropInPaths=\nNeedDaemonReload={reload}\n"
        },
        "engine_setup.ask": {"out": "\n".join(setup) + "\n"},
        "runtime_versions.ask": {"out": _versions(node)},
    }


def _info(said: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    number = release(said["version"]) or ()
    v1 = node["system"].get("cgroup", "v2") != "v2"
    return {
        "ServerVersion": said["version"],
        "CgroupDriver": said["driver"],
        "CgroupVersion": "1" if v1 else "2",
        "LiveRestoreEnabled": said.get("live_restore", False),
        "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
        "Runtimes": {"io.containerd.runc.v2": {}, "nvidia": {}, "runc": {}},
        "DefaultRuntime": said.get("default_runtime", "runc"),
        "Swarm": {"LocalNodeState": said.get("swarm", "inactive")},
        "OperatingSystem": node["system"]["name"],
        "DockerRootDir": "/var/lib/docker",
        "RuncCommit": {"ID": f"v{said.get('runc', '1.1.13')}-0-g58aa920"},
        "CDISpecDirs": ["/etc/cdi", "/var/run/cdi"] if number >= (28, 2) else None,
        **said.get("info", {}),
    }


def _versions(node: Mapping[str, Any]) -> str:
    docker, kubelet = node.get("docker") or {}, node.get("kubelet") or {}
    runc = docker.get("runc") or kubelet.get("runc") or "1.1.13"
    return f"program /usr/bin/runc\nrunc version {runc}\nspec: 1.2.0\n"


def daemon_json(text: str, node: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The engine's file, as it is; the engine has read it unless ``docker`` says otherwise."""
    content = text.encode()
    docker = node.get("docker") or {}
    edited = docker.get("edited", False)
    at = {True: ["times 1796299900 1796299900"], False: ["times 1796290000 1796290000"], None: []}
    lines = [
        *([] if edited is None else ["pidfile 601 1796299876", "clock 1796301200 1500.25"]),
        *([] if edited is None else ["dockerd 601 17621 /etc/docker/daemon.json"]),
        "file /etc/docker/daemon.json",
        "link 81a4",
        f"stat 81a4 0 0 {len(content)}",
        *at[edited],
        "target /etc/docker/daemon.json",
        f"data {base64.b64encode(content).decode()}",
    ]
    return {"daemon_json.files": {"out": "\n".join(lines) + "\n"}}


_PROGRAMS = {
    "nvidia-container-runtime-hook": (1, 0),
    "nvidia-container-runtime": (1, 0),
    "nvidia-cdi-hook": (1, 16),
    "nvidia-ctk": (1, 9),
    "nvidia-container-cli": (1, 0),
}
"""Program to the first toolkit that brings it (NVIDIA's release notes)."""


def toolkit(said: Mapping[str, Any] | None, _: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``version`` and, where they are set, ``mode``, ``no_cgroups`` and ``specs`` (path to driver
    version); ``operator`` is the GPU Operator's own copy; ``None``: none is there."""
    if said is None:
        return {
            "container_toolkit.programs": {"out": ""},
            "container_toolkit.version": {"rc": 127},
            "container_toolkit.config": {"rc": 2},
            "container_toolkit.specs": {"rc": 2},
        }
    number = release(said["version"]) or ()
    where = (
        ("operator", "/usr/local/nvidia/toolkit")
        if said.get("operator")
        else ("on-path", "/usr/bin")
    )
    programs = [
        f"{where[0]} {name} {where[1]}/{name}"
        for name, first in _PROGRAMS.items()
        if number >= first
    ]
    path = "/etc/nvidia-container-runtime/config.toml"
    config = [f"{path}:[nvidia-container-cli]"]
    if "no_cgroups" in said:
        config.append(f"{path}:no-cgroups = {str(said['no_cgroups']).lower()}")
    config += [f"{path}:[nvidia-container-runtime]", f'{path}:mode = "{said.get("mode", "auto")}"']
    specs = [
        f"{spec}:{text}"
        for spec, version in said.get("specs", {}).items()
        for text in ("kind: nvidia.com/gpu", f"libcuda.so.{version}", f"libnvidia-ml.so.{version}")
    ]
    ctk = number >= _PROGRAMS["nvidia-ctk"]
    words = "NVIDIA Container Toolkit CLI version" if ctk else "cli-version:"
    return {
        "container_toolkit.programs": {"out": "\n".join(programs) + "\n"},
        "container_toolkit.version": {"out": f"{words} {said['version']}\n"},
        "container_toolkit.config": {"rc": 2, "out": "\n".join(config) + "\n"},
        "container_toolkit.specs": {"rc": 2, "out": "\n".join([*specs, ""])},
    }
