"""The running containers of a described node, of Docker and of pods."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_REQUESTS: dict[str, dict[str, Any]] = {
    "gpus": {
        "DeviceRequests": [
            {"Driver": "", "Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]], "Options": {}}
        ]
    },
    "cdi": {
        "DeviceRequests": [
            {"Driver": "cdi", "Count": 0, "DeviceIDs": ["nvidia.com/gpu=all"], "Capabilities": None}
        ]
    },
    "runtime": {"Runtime": "nvidia"},
    "device": {"Devices": [{"PathOnHost": f"/dev/{n}"} for n in ("nvidiactl", "nvidia0")]},
    "privileged": {"Privileged": True},
}
"""How a container asks Docker, as ``docker inspect`` shows it."""

_PIECES = {
    "hook": ('"path":"/usr/bin/nvidia-container-runtime-hook"', '"NVIDIA_VISIBLE_DEVICES=all"'),
    "cdi": (
        '"path":"/usr/bin/nvidia-cdi-hook"',
        '"path":"/dev/nvidia0"',
        '"path":"/dev/nvidiactl"',
    ),
    "devices": ('"path":"/dev/nvidia0"', '"path":"/dev/nvidiactl"'),
    "privileged": ('{"allow":true,"access":"rwm"}',),
}
"""How the GPU came in, as the OCI spec shows it."""

_BASIC = ("char-pts rwm", "/dev/char/1:3 rwm", "char-* m", "block-* m")
_NVIDIA = ("/dev/char/195:255 rwm", "/dev/char/195:0 rwm")


def answers(
    said: Sequence[Mapping[str, Any]], node: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Each has a ``name``, ``asks`` (of Docker) or ``pod``, ``by`` (how the GPU came in), ``scope``
    (``listed``, ``unlisted``, ``auto``, or ``none``: cgroupfs), ``opens`` (OK or EPERM) and ``uvm``
    (what an open of /dev/nvidia-uvm, of ``uvm_major``, says); ``inspect`` and ``spec`` add to what
    Docker and the OCI spec say."""
    rows = [(f"{number:x}" * 64, 4241 + number, one) for number, one in enumerate(said, 1)]
    docker = [_row(identity, pid, one) for identity, pid, one in rows if _of_docker(one)]
    walk = [line for identity, pid, one in rows for line in _walked(identity, pid, one, node)]
    scopes = [_scope(identity, one) for identity, _, one in rows if _held(one)]
    specs = [line for identity, _, one in rows for line in _spec(identity, one)]
    found: dict[str, dict[str, Any]] = {
        "container_devices.walk": {"out": "\n".join(["uid 0", *walk]) + "\n"},
        "scopes.show": {"out": "\n\n".join(scopes) + "\n"},
        "oci_specs.read": {"rc": 2, "out": "\n".join([*specs, ""])},
    }
    if node.get("docker") is not None:
        found["docker_inspect.running"] = {"out": "\n".join([*docker, ""])}
    return found


def _of_docker(one: Mapping[str, Any]) -> bool:
    return "pod" not in one or "inspect" in one


def _held(one: Mapping[str, Any]) -> bool:
    return bool(one.get("scope", "none") != "none")


def _row(identity: str, pid: int, one: Mapping[str, Any]) -> str:
    row: dict[str, Any] = {
        "Id": identity,
        "Name": f"/{one['name']}",
        "Status": "running",
        "Pid": pid,
        "StartedAt": "2026-03-01T04:05:06.1Z",
        "Image": "registry.example.com/team/app:1",
        "Runtime": "runc",
        "Privileged": False,
        "CapAdd": None,
        "Devices": [],
        "DeviceRequests": None,
        "CgroupParent": "",
        "RestartPolicy": "unless-stopped",
        "AutoRemove": False,
        "Pod": None,
        "Env": [None],
    }
    for way in one.get("asks", "").split():
        row |= _REQUESTS[way]
    return json.dumps(row | one.get("inspect", {}))


def _cgroup(identity: str, one: Mapping[str, Any]) -> str:
    prefix = one.get("prefix", "cri-containerd" if "pod" in one else "docker")
    if "pod" in one:
        scope = f"/{prefix}-{identity}.scope" if _held(one) else f"/{identity}"
        slice_ = "/kubepods.slice/kubepods-pod1.slice" if _held(one) else "/kubepods/pod1"
        return slice_ + scope
    return f"/system.slice/{prefix}-{identity}.scope" if _held(one) else f"/docker/{identity}"


def _walked(identity: str, pid: int, one: Mapping[str, Any], node: Mapping[str, Any]) -> list[str]:
    if "by" not in one:
        return []
    lines = [f"inhabitant {pid}", "node nvidiactl c3 ff", "node nvidia0 c3 0"]
    lines.append(f"cgroup {one.get('cgroup', _cgroup(identity, one))}")
    if node["system"].get("cgroup", "v2") != "v2":
        lines += ["list c *:* m", "list c 1:3 rwm"]
        lines += ["list c 195:* rw"] if one.get("opens", "OK") == "OK" else []
    for name in ("nvidiactl", "nvidia0"):
        lines.append(f"open {name}")
        if one.get("opens", "OK") == "OK":
            lines.append("rc 0")
        else:
            lines.append(f"sh: 5: cannot open /proc/{pid}/root/dev/{name}: Operation not permitted")
            lines.append("rc 2")
    if "uvm" in one:
        lines.insert(3, f"node nvidia-uvm {one.get('uvm_major', 509):x} 0")
        lines += ["open nvidia-uvm", f"sh: 5: cannot open /dev/nvidia-uvm: {one['uvm']}", "rc 2"]
    return lines


def _scope(identity: str, one: Mapping[str, Any]) -> str:
    state = one["scope"]
    rules = {"listed": (*_NVIDIA, *_BASIC), "unlisted": _BASIC, "auto": ()}[state]
    path = _cgroup(identity, one)
    lines = [f"ControlGroup={path}", f"DevicePolicy={'auto' if state == 'auto' else 'strict'}"]
    lines += [f"DeviceAllow={rule}" for rule in rules] or ["DeviceAllow="]
    lines += [f"Id={path.rpartition('/')[2]}", "ActiveState=active", "NeedDaemonReload=no"]
    return "\n".join(lines)


def _spec(identity: str, one: Mapping[str, Any]) -> list[str]:
    # Docker keeps what Kubernetes says of a pod in labels, not in the spec (dockershim).
    space = "k8s.io" if "pod" in one and "inspect" not in one else "moby"
    root = f"/run/containerd/io.containerd.runtime.v2.task/{space}/{identity}/config.json"
    pieces = [piece for way in one.get("by", "").split() for piece in _PIECES[way]]
    pieces += one.get("spec", ())
    path = _cgroup(identity, one)
    parts = path.strip("/").split("/")
    if _held(one):
        prefix = parts[-1].partition(f"-{identity}")[0]
        path = f"{parts[-2]}:{prefix}:{identity}"
    pieces.append(f'"cgroupsPath":"{path}"')
    if "pod" in one and "inspect" not in one:
        space, _, pod = one["pod"].partition("/")
        image = one.get("image", "registry.example.com/team/app:1")
        pieces += [
            f'"io.kubernetes.cri.container-name":"{one["name"]}"',
            f'"io.kubernetes.cri.image-name":"{image}"',
            f'"io.kubernetes.cri.sandbox-name":"{pod}"',
            f'"io.kubernetes.cri.sandbox-namespace":"{space}"',
        ]
    return [f"{root}:{piece}" for piece in pieces]
