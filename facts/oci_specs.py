"""The OCI specs of this node's running containers, of every engine."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.oci_container import OciContainer, container
from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    file_texts,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# Where containerd (the system's, Docker's own, the docker snap's, K3s', k0s', MicroK8s', rootless
# Docker's, rootless nerdctl's) and cri-o keep the specs; that is what runc was given, an edit by
# NVIDIA's runtime included. Beside it containerd's shim notes the runtime that it was told to start
# (containerd, runtime/v2/runc, WriteRuntime).
_TASKS = "io.containerd.runtime.v2.task/*/*"
_ROOTS = (
    "/run/containerd",
    "/run/docker/containerd/daemon",
    "/run/snap.docker/containerd/daemon",
    "/run/k3s/containerd",
    "/run/k0s/containerd",
    "/var/snap/microk8s/common/run/containerd",
    "/run/user/*/docker/containerd/daemon",
    "/run/user/*/containerd",
)
_CRIO = "/run/containers/storage/overlay-containers/*/userdata"
_SPECS = (
    *(f"{root}/{_TASKS}/{name}" for root in _ROOTS for name in ("config.json", "runtime")),
    f"{_CRIO}/config.json",
)

# Only these pieces leave the node: the rest of the environment may hold secrets. containerd writes
# a spec in one line, cri-o (runtime-tools) indented: no piece spans lines. busybox's grep -o keeps
# to one of several patterns on a line, so they are one.
_PIECES = (
    r'"(NVIDIA_(VISIBLE|DRIVER|MIG)_[A-Z_]+|PASS_DEVICE_SPECS|DEVICE_LIST_STRATEGY|MIG_STRATEGY)=[^"\\]*"',
    r'"io\.kubernetes\.(cri|cri-o|container|pod)[a-zA-Z.-]*[nN]ame(space)?": ?"[^"\\]*"',
    r'"CAP_SYS_ADMIN"',
    r'"path": ?"[^"\\]*nvidia[^"\\]*"',
    r'"cgroupsPath": ?"[^"\\]*"',
    r'\{"allow":true,"access":"rwm"\}',
    r'^[^"{]*nvidia-container-runtime[^"{]*$',
)
# podman keeps a spec for as long as its container is there, in its storage, wherever its owner has
# that. What runs has a conmon, whose command line names the spec's directory (-b), the runtime (-r)
# and the container (-n); conmon(8). cri-o's conmon does so too.
# grep's own exit code 1: there is nothing.
_READ = rf"""
set --
for comm in $(sed -n 's,/comm:conmon$,,p' "$COMMS"); do set -- "$@" "$comm"; done
[ $# -gt 0 ] || for place in /run/containerd /run/docker/containerd /run/k3s/containerd \
  /run/k0s/containerd /run/snap.docker /run/containers /run/user/*/docker/containerd \
  /run/user/*/containerd /var/snap/microk8s/common/run/containerd none; do
  [ -d $place ] && break
done
[ "$place" = none ] && exit 1
[ "$ASKER" = 0 ] || {{ echo 'want root to read the specs of containers' >&2; exit 3; }}
bundles=
[ $# = 0 ] || bundles=$(for process; do
  tr '\n\0' ' \n' <"$process/cmdline" 2>/dev/null | awk '
    key {{ value[key] = $0; key = ""; next }}
    /^-[brn]$/ && !($0 in value) {{ key = $0 }}
    END {{ if (value["-b"] ~ /^\//) print value["-b"] "/conmon:" value["-r"], value["-n"] }}'
done)
set --
for spec in {" ".join(_SPECS)}; do
  [ ! -e "$spec" ] || set -- "$@" "$spec"
done
while read -r line; do
  case $line in
    {_CRIO}/conmon:*) echo "$line" ;;
    /*) echo "$line"; set -- "$@" "${{line%%/conmon:*}}/config.json" ;;
  esac
done <<END
$bundles
END
grep -HoE '{"|".join(_PIECES)}' "$@" /dev/null
"""

PROBE = Probe("oci_specs.read", _READ, limit=15, cap=2048)


@dataclass(frozen=True)
class OciSpecsState(Value):
    """Every container whose spec is there."""

    containers: tuple[OciContainer, ...]


class OciSpecs(Source[OciSpecsState]):
    """The specs of the running containers: containerd's, cri-o's, podman's, also of users.

    Sources: config.json (opencontainers/runtime-spec, config.md), /proc/pid/cmdline of conmon.
    Needs root.
    """

    probes = (PROBE,)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> OciSpecsState | Unknown:
        answer = section(sections, PROBE.name)
        if answer.rc == 3:
            return Unknown(answer.said)
        texts = file_texts(answer)
        if isinstance(texts, Unknown):
            return texts
        # One container that is not known is enough: the list would claim to be all.
        if unread := next((text for text in texts.values() if isinstance(text, Unknown)), None):
            return unread
        told = {path: text for path, text in texts.items() if isinstance(text, str)}
        specs = [path for path in sorted(told) if path.endswith("/config.json")]
        found = (container(path, told[path], *_beside(path, told)) for path in specs)
        return OciSpecsState(tuple(one for one in found if one))


Specs = OciSpecs  # the name before 0.2


def _beside(path: str, texts: dict[str, str]) -> tuple[str, str]:
    """The runtime and the container's name, as conmon or containerd's shim has them."""
    directory = path.rpartition("/")[0]
    runtime, _, name = texts.get(f"{directory}/conmon", "").partition(" ")
    return runtime or texts.get(f"{directory}/runtime", ""), name
