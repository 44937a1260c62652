"""The kinds of node there are: which Debian, and which cgroup hierarchy.

The versions are those in Debian's archive in September 2026; `up` shows a node's own.
"""

from dataclasses import dataclass

PACKAGES = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "openssh-server",
    "docker.io",
    "iproute2",
    "iptables",
    "procps",
    "kmod",
    "ca-certificates",
    "busybox-static",
    "sudo",
)
# From Debian 13 on the client is a package of its own.
PACKAGES_WITH_CLIENT = (*PACKAGES, "docker-cli")
# What a node needs that audits itself, and that Slurm gives work to.
PACKAGES_OF_CLUSTER = (
    *PACKAGES,
    "python3",
    "python3-venv",
    "munge",
    "slurmctld",
    "slurmd",
    "slurm-client",
)


@dataclass(frozen=True)
class Kind:
    """A kind of node: its Debian suite, the packages in it, and its cgroup hierarchy."""

    name: str
    suite: str
    packages: tuple[str, ...]
    unified: bool = True


_KINDS = (
    Kind("bookworm", "bookworm", PACKAGES),  # systemd 252, Docker 20.10.24, runc 1.1.5
    Kind("trixie", "trixie", PACKAGES_WITH_CLIENT),  # systemd 257, Docker 26.1.5, runc 1.1.15
    Kind("forky", "forky", PACKAGES_WITH_CLIENT),  # systemd 262, Docker 28.5.2, runc 1.3.6
    Kind("legacy", "bookworm", PACKAGES, unified=False),  # bookworm on cgroup v1
    Kind("bullseye", "bullseye", PACKAGES),  # systemd 247, Docker 20.10.5
    Kind("cluster", "bookworm", PACKAGES_OF_CLUSTER),  # Python 3.11, Slurm 22.05
)
KINDS = {kind.name: kind for kind in _KINDS}
# What `up` boots and what the tests use; bullseye only while the mirror still has it.
USUAL = ("bookworm", "trixie", "forky", "legacy")
