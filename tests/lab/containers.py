"""GPU containers on a node, asked for in each of the ways there are, and what their device answers.

No driver stands behind major 195: an open that the device cgroup allows ends in ENXIO, one that it
refuses in EPERM, which is what NVML turns into "Unknown Error".
"""

import re
import shlex

from tests.lab.image import NAME as IMAGE
from tests.lab.node import Node

CONTROL = "/dev/nvidiactl"
GPU = "/dev/nvidia0"
# The words of `docker run` that ask for the GPU.
WAYS = {
    "gpus": ("--gpus", "all"),
    "device": ("--device", CONTROL, "--device", GPU),
    "device_gpu_only": ("--device", GPU),
    "cdi": ("--device", "nvidia.com/gpu=all"),
    "privileged": ("--privileged",),
    "none": (),
}
# busybox's `head`: "head: /dev/nvidiactl: No such device or address".
ANSWERS = {
    "No such device or address": "ENXIO",
    "Operation not permitted": "EPERM",
    "No such file or directory": "ENOENT",
}
CDI_SPEC = """\
cdiVersion: "0.5.0"
kind: nvidia.com/gpu
devices:
  - name: all
    containerEdits:
      deviceNodes:
        - path: /dev/nvidiactl
        - path: /dev/nvidia0
"""
# Files of a node on which `--device nvidia.com/gpu=all` works; a feature of Docker 25 and later.
CDI_FILES = {
    "/etc/cdi/nvidia.yaml": CDI_SPEC,
    "/etc/docker/daemon.json": '{"features": {"cdi": true}}\n',
}
# Files of a node whose Docker makes its containers' cgroups itself, and of one that asks systemd.
CGROUPFS_FILES = {"/etc/docker/daemon.json": '{"exec-opts": ["native.cgroupdriver=cgroupfs"]}\n'}
SYSTEMD_FILES = {"/etc/docker/daemon.json": '{"exec-opts": ["native.cgroupdriver=systemd"]}\n'}


def start(node: Node, name: str, way: str, *more: str) -> str:
    """The id of a new container that asks for its GPU in this way; `more` goes to `docker run`."""
    words = ["docker", "run", "--detach", "--name", name, *WAYS[way], *more, IMAGE]
    return node.sh(shlex.join(words))


def remove(node: Node, *names: str) -> None:
    """Remove containers, running or not."""
    node.sh(shlex.join(["docker", "rm", "--force", *names]))


def answer(node: Node, name: str, device: str = CONTROL) -> str:
    """What an open of the device in the container ends in: ENXIO, EPERM, ENOENT, or other words."""
    ran = node.run(shlex.join(["docker", "exec", name, "head", "-c1", device]))
    said = (ran.stderr or ran.stdout).strip()
    found = re.fullmatch(r"head: \S+: (.*)", said)
    return ANSWERS.get(found[1], said) if found else said or f"exit {ran.code}"


def scope(container_id: str) -> str:
    """The systemd unit of a container under Docker's systemd driver."""
    return f"docker-{container_id}.scope"


def device_policy(node: Node, container_id: str) -> str:
    """DevicePolicy of the container's scope."""
    return _shown(node, container_id, "DevicePolicy")[0]


def nvidia_rules(node: Node, container_id: str) -> list[str]:
    """The DeviceAllow rules of the container's scope for major 195, by number or by path."""
    rules = _shown(node, container_id, "DeviceAllow")
    return [rule for rule in rules if re.search(r"\b195:|/nvidia", rule)]


def _shown(node: Node, container_id: str, name: str) -> list[str]:
    command = f"systemctl show --property={name} {scope(container_id)}"
    return [line.partition("=")[2] for line in node.sh(command).splitlines()]
