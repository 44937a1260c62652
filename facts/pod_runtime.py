"""The runtime of this node's pods, containerd or cri-o, and the cgroup driver it is set to."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.command_line import JOINED, values
from pyinfra_nvml.facts.containerd_config import Handler, handlers
from pyinfra_nvml.facts.cut_headers import close_headers
from pyinfra_nvml.facts.daemons import Daemon, Daemons, DaemonsState
from pyinfra_nvml.facts.kubelet import Kubelet, KubeletState
from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    file_texts,
    section,
)
from pyinfra_nvml.facts.runtime_versions import RuntimeVersions
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.toml_mask import masked
from pyinfra_nvml.facts.toml_text import parse_toml, value_at
from pyinfra_nvml.model.unknown import Unknown, Value

CONTAINERD = "/etc/containerd/config.toml"
CRIO = "/etc/crio/crio.conf"
_K3S = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"
_RKE2 = "/var/lib/rancher/rke2/agent/etc/containerd/config.toml"
_MICROK8S = "/var/snap/microk8s/current/args/containerd.toml"
_FILES = (CONTAINERD, _K3S, _RKE2, _MICROK8S, CRIO, "/etc/crio/crio.conf.d/*")
_OWN = {"kubelite": _MICROK8S, "rke2": _RKE2}
_OWN |= dict.fromkeys(("k3s", "k3s-server", "k3s-agent"), _K3S)

# These files hold passwords of registries: of strings only those of these keys leave the node.
_ASKED = ("imports", "default_runtime_name", "cgroup_manager")
# Files that a running containerd or cri-o was started with come last, then what they import.
_READ = rf"""
set -- {" ".join(_FILES)}
for process in $(sed -n -e 's,/comm:containerd$,,p' -e 's,/comm:crio$,,p' "$COMMS"); do
  {JOINED}
  case $words in *-c*) ;; *) continue ;; esac
  set -- "$@" $(tr '\0' '\n' <"$process/cmdline" 2>/dev/null | {values("--config", "-c")})
done
for file in $(grep -lsE '^[[:space:]]*imports[[:space:]]*=' "$@"); do
  for path in $(sed -n -e '/^[[:space:]]*imports[[:space:]]*=/{{' -e ':a' -e '/\]/!{{N;ba' -e '}}' \
    -e 'p' -e '}}' "$file" | grep -oE "[\"'][^\"']+[\"']"); do
    path=${{path#?}} path=${{path%?}}
    case $path in /*) set -- "$@" $path ;; *) set -- "$@" "${{file%/*}}"/$path ;; esac
  done
done
{masked('grep -H "" "$@" /dev/null', *_ASKED)}
"""


@dataclass(frozen=True)
class PodRuntimeState(Value):
    """The runtime that kubelet uses, the file it reads, and the drivers of its handlers.

    ``handlers`` are the default one, then runc's and NVIDIA's in containerd; cri-o has one driver
    for all.

    .. code:: python

        PodRuntimeState("containerd", "/etc/containerd/config.toml",
                        (Handler("runc", "systemd"), Handler("nvidia", "cgroupfs")))
    """

    name: str
    path: str
    handlers: tuple[Handler, ...] | Unknown


class PodRuntime(Source[PodRuntimeState | None]):
    """The runtime of the pods, or ``None`` where no kubelet is, or one whose pods run on Docker.

    Sources: containerd's config.toml with its imports (containerd, docs/man and docs/cri/config.md;
    versions 1 to 3; K3s', RKE2's and MicroK8s' own), crio.conf and crio.conf.d (crio.conf(5)).
    Needs root where a file is kept from users.
    """

    probes = (Probe("pod_runtime.files", _READ), *Kubelet.probes, *RuntimeVersions.probes)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> PodRuntimeState | Unknown | None:
        kubelet, daemons = Kubelet.judged(sections), Daemons.judged(sections)
        if kubelet is None or isinstance(kubelet, Unknown):
            return kubelet
        if isinstance(daemons, Unknown):
            return daemons
        if kubelet.on_docker is not False:
            return kubelet.on_docker if isinstance(kubelet.on_docker, Unknown) else None
        name = _name(kubelet, daemons)
        if isinstance(name, Unknown):
            return name
        texts = file_texts(section(sections, "pod_runtime.files"))
        if name == "cri-o":
            return PodRuntimeState(name, *_crio(texts, daemons))
        path = _path(kubelet, daemons)
        return PodRuntimeState(name, path, handlers(path, texts, RuntimeVersions.judged(sections)))


PodRuntimes = PodRuntime  # the name before 0.2


def _name(kubelet: KubeletState, daemons: DaemonsState) -> str | Unknown:
    """``containerd`` or ``cri-o``, by kubelet's endpoint, else by which of the two runs."""
    endpoint = kubelet.endpoint
    if isinstance(endpoint, str):
        if found := next((n for n in ("containerd", "crio") if n in endpoint), None):
            return "cri-o" if found == "crio" else found
        return Unknown(f"kubelet's runtime: endpoint {endpoint} names neither containerd nor cri-o")
    if isinstance(endpoint, Unknown):
        return endpoint
    if any(process.name in _OWN for process in kubelet.processes):
        return "containerd"
    running = [name for name in ("containerd", "crio") if daemons.named(name)]
    if len(running) == 1:
        return "cri-o" if running[0] == "crio" else running[0]
    return Unknown(f"kubelet's runtime: no endpoint, and {' and '.join(running) or 'none'} running")


def _path(kubelet: KubeletState, daemons: DaemonsState) -> str:
    """The file that the containerd of the pods reads; Docker may have started one of its own."""
    usual = next((_OWN[one.name] for one in kubelet.processes if one.name in _OWN), CONTAINERD)
    named = [_config(one) or usual for one in daemons.named("containerd")]
    return next((path for path in named if "/docker/" not in path), usual)


def _config(daemon: Daemon) -> str | None:
    return daemon.option("--config") or daemon.option("-c")


_Texts = dict[str, str | Unknown] | Unknown


def _crio(texts: _Texts, daemons: DaemonsState) -> tuple[str, tuple[Handler, ...] | Unknown]:
    """The main file and the driver: a flag beats every file, the last file the others."""
    running = daemons.named("crio")
    main = next((path for one in running if (path := _config(one))), CRIO)
    if isinstance(texts, Unknown):
        return main, texts
    driver = "systemd"  # the default since cri-o 1.18 (crio.conf(5))
    parts = sorted(found for found in texts if found.startswith("/etc/crio/crio.conf.d/"))
    for path in (main, *parts):
        text = texts.get(path, "")
        named = text if isinstance(text, Unknown) else _manager(path, text)
        if isinstance(named, Unknown):
            return main, named
        driver = named or driver
    for one in running:
        driver = one.option("--cgroup-manager") or driver
    return main, (Handler("every handler", driver),)


def _manager(path: str, text: str) -> str | Unknown | None:
    tables = parse_toml(path, close_headers(text))
    if isinstance(tables, Unknown):
        return tables
    named = value_at(tables, "crio", "runtime", "cgroup_manager")
    if named is None or isinstance(named, str):
        return named
    return Unknown(f"{path}: crio.runtime.cgroup_manager is {named!r}, not a word")
