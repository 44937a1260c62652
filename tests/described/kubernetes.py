"""The kubelet of a described node, and the daemons that run on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.described import docker

_ENDPOINT = "unix:///run/containerd/containerd.sock"
_CONTAINERD = "/etc/containerd/config.toml"


def answers(said: Mapping[str, Any] | None, _: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``version``, and where they are set ``driver``, ``cpu_policy``, ``endpoint``, ``flags``;
    ``runtime_driver`` is containerd's, where it is not kubelet's; ``settings`` and ``containerd``
    are the paths of the two files (an empty one: it has none); ``path``: whether kubelet is on it;
    ``validations`` are the files of GPU Operator's validator; ``None``: no kubelet."""
    if said is None:
        return {"kubelet.settings": {"rc": 1}, "kubelet.version": {"rc": 127}}
    path = said.get("settings", "/var/lib/kubelet/config.yaml")
    settings = {"cgroupDriver": said.get("driver"), "cpuManagerPolicy": said.get("cpu_policy")}
    lines = [f"{path}:{key}: {value}" for key, value in settings.items() if value and path]
    validations = [f"validation {name}" for name in said.get("validations", ())]
    return {
        "kubelet.settings": {"rc": 2, "out": "\n".join([*lines, ""])},
        "kubelet.version": {"out": f"Kubernetes v{said['version']}\n"}
        if said.get("path", True)
        else {"rc": 127},
        "pod_runtime.files": _containerd(
            said.get("runtime_driver", said.get("driver")), said.get("containerd", _CONTAINERD)
        ),
        "operator_traces.list": {"out": "\n".join([*validations, ""])},
    }


def _containerd(driver: str | None, path: str) -> dict[str, Any]:
    """containerd's config.toml with runc and NVIDIA's runtime, both on this driver."""
    plugin = 'plugins."io.containerd.grpc.v1.cri".containerd.runtimes'
    lines = []
    for name in ("runc", "nvidia"):
        lines += [f"[{plugin}.{name}]", f"[{plugin}.{name}.options]"]
        lines += ["  SystemdCgroup = true"] if driver == "systemd" else []
    text = "".join(f"{path}:{line}\n" for line in lines)
    return {"rc": 2, "out": text}


def processes(node: Mapping[str, Any]) -> dict[str, Any]:
    """The daemons of /proc: dockerd, kubelet, containerd, and others by their command lines."""
    engine, kubelet = node.get("docker"), node.get("kubelet")
    started: list[tuple[str, list[str], int]] = []
    if engine and engine.get("process", True):
        started.append(("dockerd", docker.arguments(engine), engine.get("uid", 0)))
    if kubelet:
        endpoint = kubelet.get("endpoint", _ENDPOINT)
        flags = [f"--container-runtime-endpoint={endpoint}"] if endpoint else []
        name = kubelet.get("program", "kubelet")
        started.append((name, [f"/usr/bin/{name}", *flags, *kubelet.get("flags", ())], 0))
    started.append(("containerd", ["/usr/bin/containerd"], 0))
    more = [*(engine or {}).get("also", ()), *(kubelet or {}).get("also", ())]
    started += [(line.split()[0].rpartition("/")[2], line.split(), 0) for line in more]
    lines = []
    for pid, (name, words, uid) in enumerate(started, 601):
        lines += [f"process {pid} {name}", f"cgroup 0::/system.slice/{name}.service", f"uid {uid}"]
        lines += [f"nspid {pid}", *(f"arg {word}" for word in words)]
    return {"out": "\n".join([*lines, "hidepid 0"]) + "\n"}
