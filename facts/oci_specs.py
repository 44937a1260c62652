"""The OCI specs of this node's running containers: how each got its GPU, and with which rights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from typing_extensions import override

from facts.probe import Probe, Sections, file_texts, section
from facts.source import Source
from facts.unknown import Unknown, Value

# Where containerd (the system's, Docker's own, K3s', MicroK8s') and cri-o or podman keep the
# specs; that is what runc was given, an edit by NVIDIA's runtime included.
_TASKS = "io.containerd.runtime.v2.task/*/*/config.json"
_SPECS = (
    f"/run/containerd/{_TASKS}",
    f"/run/docker/containerd/daemon/{_TASKS}",
    f"/run/k3s/containerd/{_TASKS}",
    f"/var/snap/microk8s/common/run/containerd/{_TASKS}",
    "/run/containers/storage/overlay-containers/*/userdata/config.json",
)

# Only these pieces leave the node: the rest of the environment may hold secrets. containerd writes
# a spec in one line, cri-o (runtime-tools) indented: no piece spans lines.
_PIECES = (
    r'"(NVIDIA_(VISIBLE|DRIVER|MIG)_[A-Z_]+|PASS_DEVICE_SPECS|DEVICE_LIST_STRATEGY|MIG_STRATEGY)=[^"\\]*"',
    r'"io\.kubernetes\.(cri|cri-o|container|pod)[a-zA-Z.-]*[nN]ame(space)?": ?"[^"\\]*"',
    r'"CAP_SYS_ADMIN"',
    r'"path": ?"[^"\\]*nvidia[^"\\]*"',
    r'"cgroupsPath": ?"[^"\\]*"',
    r'\{"allow":true,"access":"rwm"\}',
)
# grep's own exit code 1: there is nothing.
_READ = f"""
for place in /run/containerd /run/docker/containerd /run/k3s/containerd /run/containers \
  /var/snap/microk8s/common/run/containerd none; do [ -d $place ] && break; done
[ $place = none ] && exit 1
[ "$(id -u)" = 0 ] || {{ echo 'want root to read the specs of containers' >&2; exit 3; }}
grep -HoE {" ".join(f"-e '{piece}'" for piece in _PIECES)} {" ".join(_SPECS)} /dev/null
"""

PROBE = Probe("oci_specs.read", _READ, limit=15, cap=2048)


class Injection(str, Enum):
    """How the GPU came into a container, as its spec shows it."""

    LEGACY = "legacy hook"
    CDI = "CDI"
    DEVICES = "device nodes"
    PRIVILEGED = "privileged"
    MIG_CONFIG = "MIG config node"
    MIG_MONITOR = "MIG monitor node"


# The minors of MIG's own rights: config 1, monitor 2 (NVIDIA/open-gpu-kernel-modules, nv-caps.c).
_MIG_NODES = {
    "/dev/nvidia-caps/nvidia-cap1": Injection.MIG_CONFIG,
    "/dev/nvidia-caps/nvidia-cap2": Injection.MIG_MONITOR,
}


@dataclass(frozen=True)
class OciContainer(Value):
    """One container's spec.

    ``namespace`` is containerd's (``moby``: Docker's), ``name`` the container's, ``pod`` is
    ``namespace/name``. ``hooks`` and ``devices`` are the paths that name NVIDIA.

    .. code:: python

        OciContainer(id="4f66...", namespace="k8s.io", name="exporter", pod="gpu-operator/exp-x7",
                     image="nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0", sys_admin=True,
                     environment=("NVIDIA_VISIBLE_DEVICES=all",), injection=(Injection.LEGACY,))
    """

    id: str
    namespace: str
    name: str = ""
    pod: str = ""
    image: str = ""
    environment: tuple[str, ...] = ()
    sys_admin: bool = False
    injection: tuple[Injection, ...] = ()
    cgroups_path: str = ""

    def variable(self, name: str) -> str | None:
        """The value of an environment variable among those that are read; the last one counts."""
        found = [text.partition("=")[2] for text in self.environment if text.startswith(f"{name}=")]
        return found[-1] if found else None


@dataclass(frozen=True)
class OciContainers(Value):
    """Every container whose spec is there."""

    containers: tuple[OciContainer, ...]


class Specs(Source[OciContainers]):
    """The specs of the running containers, of every runtime that keeps them under /run.

    Source: config.json (opencontainers/runtime-spec, config.md). Needs root.
    """

    probes = (PROBE,)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> OciContainers | Unknown:
        answer = section(sections, PROBE.name)
        if answer.rc == 3:
            return Unknown(answer.said)
        texts = file_texts(answer)
        if isinstance(texts, Unknown):
            return texts
        # One container that is not known is enough: the list would claim to be all.
        if unread := next((text for text in texts.values() if isinstance(text, Unknown)), None):
            return unread
        found = (_container(path, str(text)) for path, text in sorted(texts.items()))
        return OciContainers(tuple(one for one in found if one))


_PAIR = re.compile(r'"([\w./-]+)": ?"(.*)"$')
_KEYS = {
    "name": ("io.kubernetes.cri.container-name", "io.kubernetes.container.name"),
    "image": ("io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"),
    "pod": ("io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"),
    "space": ("io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"),
}


def _container(path: str, text: str) -> OciContainer | None:
    parts = path.split("/")
    if len(parts) < 5:
        return None
    userdata = parts[-2] == "userdata"
    pieces = [line.strip() for line in text.splitlines()]
    pairs = [(found[1], found[2]) for piece in pieces if (found := _PAIR.match(piece))]
    named = {key: _first(pairs, *names) for key, names in _KEYS.items()}
    return OciContainer(
        id=parts[-3] if userdata else parts[-2],
        namespace="containers" if userdata else parts[-3],
        name=named["name"],
        pod=named["pod"] and f"{named['space']}/{named['pod']}",
        image=named["image"],
        environment=tuple(p.strip('"') for p in pieces if re.match(r'"[A-Z_]+=', p)),
        sys_admin='"CAP_SYS_ADMIN"' in pieces,
        injection=_injection(pieces, [value for key, value in pairs if key == "path"]),
        cgroups_path=_first(pairs, "cgroupsPath"),
    )


def _first(pairs: list[tuple[str, str]], *names: str) -> str:
    return next((value for key, value in pairs if key in names), "")


def _injection(pieces: list[str], paths: list[str]) -> tuple[Injection, ...]:
    found = []
    # nvidia-container-toolkit is the hook's name up to toolkit 1.5, a link to it after.
    if any(re.search(r"/nvidia-container-(runtime-hook|toolkit)$", path) for path in paths):
        found.append(Injection.LEGACY)
    if any(re.search(r"/nvidia-(cdi-hook|ctk)$", path) for path in paths):
        found.append(Injection.CDI)
    elif any(path.startswith("/dev/nvidia") for path in paths):
        found.append(Injection.DEVICES)
    found += [injection for path, injection in _MIG_NODES.items() if path in paths]
    if '{"allow":true,"access":"rwm"}' in pieces:
        found.append(Injection.PRIVILEGED)
    return tuple(found)
