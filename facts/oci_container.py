"""One container as its OCI spec shows it: how it got its GPU, and with which rights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from pyinfra_nvml.facts.mig import CONFIG_NODE, MONITOR_NODE
from pyinfra_nvml.model.unknown import Value


class Injection(str, Enum):
    """How the GPU came into a container, as its spec shows it.

    jit-cdi leaves the same edits as CDI: only who made them tells the two apart.
    """

    LEGACY = "legacy hook"
    CDI = "CDI"
    JIT_CDI = "jit-cdi"
    DEVICES = "device nodes"
    PRIVILEGED = "privileged"
    MIG_CONFIG = "MIG config node"
    MIG_MONITOR = "MIG monitor node"


_MIG_NODES = {
    CONFIG_NODE: Injection.MIG_CONFIG,
    MONITOR_NODE: Injection.MIG_MONITOR,
}


@dataclass(frozen=True)
class OciContainer(Value):
    """One container's spec.

    ``namespace`` is containerd's (``moby``: Docker's), ``name`` the container's, ``pod`` is
    ``namespace/name``. ``runtime`` is the program that was handed the spec, empty where the engine
    keeps no note of it. podman's and cri-o's have the namespace ``containers``.

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
    runtime: str = ""

    @property
    def by_nvidia_runtime(self) -> bool:
        """Whether NVIDIA's runtime was handed the spec, and so may have edited it."""
        return self.runtime.rpartition("/")[2].startswith("nvidia-container-runtime")

    def variable(self, name: str) -> str | None:
        """The value of an environment variable among those that are read; the last one counts."""
        found = [text.partition("=")[2] for text in self.environment if text.startswith(f"{name}=")]
        return found[-1] if found else None


_PAIR = re.compile(r'"([\w./-]+)": ?"(.*)"$')
_KEYS = {
    "name": ("io.kubernetes.cri.container-name", "io.kubernetes.container.name"),
    "image": ("io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"),
    "pod": ("io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"),
    "space": ("io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"),
}


def container(path: str, text: str, runtime: str = "", name: str = "") -> OciContainer | None:
    """The container of the spec at this path, of which ``text`` are the pieces that are read."""
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
        name=named["name"] or name,
        pod=named["pod"] and f"{named['space']}/{named['pod']}",
        image=named["image"],
        environment=tuple(p.strip('"') for p in pieces if re.match(r'"[A-Z_]+=', p)),
        sys_admin='"CAP_SYS_ADMIN"' in pieces,
        injection=_injection(pieces, [value for key, value in pairs if key == "path"]),
        cgroups_path=_first(pairs, "cgroupsPath"),
        runtime=runtime,
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
