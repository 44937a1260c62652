"""The keys that Docker 20.10 takes in its daemon.json: it has no --validate to ask (23.0 has).

An unknown key stops dockerd at its next start, with the old file as well as with a new one: "the
following directives don't match any configuration option".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# `dockerd --help` of 20.10.24 (Debian 12), in the names that the file has for lists, and the flags
# that its help hides (moby v20.10, cmd/dockerd/config.go, config_common_unix.go).
_FLAGS = """
authorization-plugins allow-nondistributable-artifacts api-cors-header bip bridge cgroup-parent
cluster-advertise cluster-store containerd containerd-namespace containerd-plugins-namespace
cpu-rt-period cpu-rt-runtime cri-containerd data-root debug default-address-pools
default-cgroupns-mode default-gateway default-gateway-v6 default-ipc-mode default-runtime
default-shm-size dns dns-opts dns-search exec-opts exec-root experimental fixed-cidr fixed-cidr-v6
graph group host-gateway-ip hosts icc init init-path insecure-registries ip ip-forward ip-masq
ip6tables iptables ipv6 labels live-restore log-driver log-level max-concurrent-downloads
max-concurrent-uploads max-download-attempts metrics-addr mtu network-control-plane-mtu
no-new-privileges node-generic-resources oom-score-adjust pidfile raw-logs registry-mirrors rootless
seccomp-profile selinux-enabled shutdown-timeout storage-driver storage-opts
swarm-default-advertise-addr tls tlscacert tlscert tlskey tlsverify userland-proxy
userland-proxy-path userns-remap
"""
# Keys without a flag, and objects that dockerd takes whole (moby v20.10, daemon/config/config.go).
_OTHERS = (
    "builder cluster-store-opts default-ulimits deprecated-key-path features log-opts runtimes"
)
_KNOWN = frozenset((_FLAGS + _OTHERS).split())


def unknown_keys(config: Mapping[str, object], version: str) -> tuple[str, ...]:
    """The keys with which an engine before 23.0 would not start; later ones are asked themselves.

    An object under another key is a group: dockerd looks at the keys in it instead.
    """
    major = re.match(r"\d+", version)
    if not major or int(major[0]) >= 23:
        return ()
    found = []
    for key, value in config.items():
        if key not in _KNOWN:
            inner = value if isinstance(value, dict) else {key: value}
            found += [name for name in inner if name not in _KNOWN]
    return tuple(found)
