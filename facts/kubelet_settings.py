"""Where a kubelet of this node gets its settings from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyinfra_nvml.facts.command_line import values
from pyinfra_nvml.facts.daemons import Daemon
from pyinfra_nvml.model.unknown import Unknown

# kubeadm; EKS; GKE; Debian's and Red Hat's flag files; K3s, RKE2; MicroK8s.
_FILES = (
    "/var/lib/kubelet/config.yaml",
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/kubernetes/kubelet/config.json.d/*.conf",
    "/etc/kubernetes/kubelet/kubelet-config.json",
    "/etc/kubernetes/kubelet/config.json",
    "/home/kubernetes/kubelet-config.yaml",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/rancher/k3s/config.yaml",
    "/etc/systemd/system/k3s.service",
    "/etc/systemd/system/k3s-agent.service",
    "/etc/rancher/rke2/config.yaml",
    "/var/lib/rancher/*/agent/etc/kubelet.conf.d/*",
    "/var/snap/microk8s/current/args/kubelet",
)

# Only these keys and their values are read: the files, and the lines, hold tokens too. What the
# process was started with comes first: the files of --config-dir from the last on, each of which
# beats those before it, then --config (kubernetes.io, "Kubelet Configuration Directory Merging";
# EKS' nodeadm puts what its owner sets there).
_KEYS = (
    "(container-?runtime(-?endpoint)?|cgroup-?driver|cpu-?manager-?policy|fail-?cgroup-?v1)"
    '"?[:= ]+"?[^ ",]+|^ *docker: *true|--docker([^-a-z]|$)'
)
COMMAND = rf"""
running=$(sed -n 's,/comm:kubelet$,,p' "$COMMS") named=''
[ -z "$running" ] || named=$(for process in $running; do
  tr '\0' '\n' <"$process/cmdline"
done 2>/dev/null | {values("--config")} \
  -e 's,^--config-dir=\(.*\),\1/,p' -e '/^--config-dir$/{{n;s,$,/,p;}}')
set --
while IFS= read -r path; do
  case $path in
    '') ;;
    */) for path in "$path"*.conf; do set -- "$path" "$@"; done ;;
    *) set -- "$@" "$path" ;;
  esac
done <<END
$named
END
grep -HoiE -e '{_KEYS}' "$@" {" ".join(_FILES)} /dev/null
"""


@dataclass(frozen=True)
class KubeletSettings:
    """What the kubelet's flags and files say; a flag of the running process beats a file.

    .. code:: python

        Settings((Daemon(901, "kubelet", ...),),
                 {"/var/lib/kubelet/config.yaml": "cgroupDriver: systemd"})
    """

    processes: tuple[Daemon, ...]
    texts: dict[str, str | Unknown] | Unknown

    @property
    def text(self) -> str:
        """The lines that could be read."""
        texts = {} if isinstance(self.texts, Unknown) else self.texts
        return "\n".join(text for text in texts.values() if isinstance(text, str))

    @property
    def unread(self) -> Unknown | None:
        """Why a file that is there could not be read."""
        if isinstance(self.texts, Unknown):
            return self.texts
        return next((x for x in self.texts.values() if isinstance(x, Unknown)), None)

    def value(self, flag: str, key: str) -> str | Unknown | None:
        """What ``--flag`` or the file's ``key`` is set to; ``None`` where neither is."""
        for process in self.processes:
            if found := process.option(f"--{flag}"):
                return found
        # YAML or JSON, a flag in an environment file or unit, K3s' kubelet-arg without dashes.
        pattern = rf"(?:\b{key}\"?\s*:|\b{flag}[= ])\s*[\"']?([^\s\"',]+)"
        found_in_file = re.search(pattern, self.text)
        return found_in_file[1] if found_in_file else self.unread
