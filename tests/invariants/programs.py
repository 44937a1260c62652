"""Commands in the texts of a report, and what a node must have for each of them.

``PROGRAMS`` is the whole vocabulary: a command that it lacks is an error of the test, so that the
table stays complete. What could not be read is not held against a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from pyinfra_nvml.facts.container_toolkit import ContainerToolkitState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState
from pyinfra_nvml.model.release import release
from pyinfra_nvml.model.unknown import Unknown

Needs = Callable[[NodeState, Sequence[str]], bool]

_SUBCOMMANDS = {"cdi": (1, 12), "config": (1, 14), "system": (1, 12), "runtime": (1, 11)}
"""nvidia-ctk's, and the toolkit that brought them (NVIDIA's release notes)."""

_INSTALLS = r"\b(?:apt|apt-get|dnf|yum|zypper) (?:-y )?install\b.*\b"


def _always(_: NodeState, __: Sequence[str]) -> bool:
    return True


def _packages(node: NodeState) -> NvidiaPackagesState | None:
    driver = node.nvidia_driver
    packages = driver.packages if isinstance(driver, NvidiaDriverState) else None
    return packages if isinstance(packages, NvidiaPackagesState) else None


def _system(node: NodeState) -> str:
    """os-release's ID; empty where it is not known."""
    machine = node.machine
    system = "" if isinstance(machine, Unknown) else machine.os_id
    return system if isinstance(system, str) else ""


def _on(*systems: str) -> Needs:
    def needs(node: NodeState, _: Sequence[str]) -> bool:
        return not _system(node) or _system(node) in systems

    return needs


_APT = _on("debian", "ubuntu")
_RPM = ("rhel", "rocky", "almalinux", "centos", "fedora", "amzn", "mariner", "ol")


def _dkms(node: NodeState, _: Sequence[str]) -> bool:
    packages = _packages(node)
    return packages is None or packages.dkms is not None


def _ctk(node: NodeState, words: Sequence[str]) -> bool:
    toolkit = node.container_toolkit
    if not isinstance(toolkit, ContainerToolkitState):
        return toolkit is not None
    if toolkit.has("nvidia-ctk") is False:
        return False
    version = release(toolkit.version) if isinstance(toolkit.version, str) else None
    return version is None or version >= _SUBCOMMANDS.get(words[1] if words[1:] else "", (1, 9))


def _docker(node: NodeState, _: Sequence[str]) -> bool:
    return node.docker_engine is not None or node.podman


def _systemctl(node: NodeState, words: Sequence[str]) -> bool:
    unit = words[-1].removesuffix(".service") if words[1:] else ""
    toolkit = node.container_toolkit
    if unit == "nvidia-cdi-refresh" and isinstance(toolkit, ContainerToolkitState):
        version = release(toolkit.version) if isinstance(toolkit.version, str) else None
        return version is None or version >= (1, 18)
    if unit == "nvidia-fabricmanager":
        return node.fabric_manager is not None
    if unit == "docker":
        return node.docker_engine is not None
    return node.systemd_manager is not None


def _driver(node: NodeState, _: Sequence[str]) -> bool:
    return node.nvidia_driver is not None


def _windows(node: NodeState, _: Sequence[str]) -> bool:
    return node.wsl is not None


PROGRAMS: dict[str, Needs] = {
    "apt": _APT,
    "apt-get": _APT,
    "apt-mark": _APT,
    "ubuntu-drivers": _on("ubuntu"),
    "dpkg": _APT,
    "dnf": _on(*(name for name in _RPM if name != "centos")),
    "yum": _on(*_RPM),
    "zypper": _on("sles", "opensuse-leap", "opensuse-tumbleweed"),
    "pacman": _on("arch"),
    "akmods": _on("fedora", "rhel", "rocky", "almalinux"),
    "dkms": _dkms,
    "nvidia-ctk": _ctk,
    "nvidia-modprobe": _driver,
    "nvidia-persistenced": _driver,
    "nvidia-smi": _driver,
    "docker": _docker,
    "podman": lambda node, _: node.podman or node.docker_engine is None,
    "crictl": lambda node, _: node.kubelet is not None,
    "kubectl": lambda node, _: node.kubelet is not None or node.cluster is not None,
    "helm": lambda node, _: node.kubelet is not None or node.cluster is not None,
    "systemctl": _systemctl,
    "journalctl": lambda node, _: node.systemd_manager is not None,
    "wsl": _windows,
    "modprobe": _always,
    "depmod": _always,
    "modinfo": _always,
    "ldconfig": _always,
    "dmesg": _always,
    "grep": _always,
    "rm": _always,
    "chmod": _always,
    "reboot": _always,
    "shutdown": _always,
}

_BREAK = re.compile(r"[;:,()|`]| or | then | and | && |\bhave udev run\b")
_PROSE = ("as", "saw", "take")
"""English words before an option: take --exec-opt out of the unit."""

_ALONE = ("dmesg", "ldconfig", "reboot")
_COMMAND = re.compile(r"^[a-z][a-z0-9_.]*(?:-[a-z0-9]+)*$")


def commands(text: str) -> Iterator[tuple[str, ...]]:
    """Every command of a text: what stands in backticks, and what begins a clause as one does.

    An unknown word counts as a program where an option follows it, or where it is in backticks.
    """
    quoted = re.findall(r"`([^`]+)`", text)
    for at, clause in enumerate((*quoted, *_BREAK.split(re.sub(r"`[^`]+`", "`", text)))):
        words = tuple(clause.replace("sudo ", "").split())
        if not words or words[0] in _PROSE:
            continue
        option = len(words) > 1 and re.match(r"--?[a-z]", words[1])
        known = words[0] in PROGRAMS and (
            len(words) > 1 or words[0] in ("dmesg", "ldconfig", "reboot")
        )
        if known or (_COMMAND.match(words[0]) and (at < len(quoted) or option)):
            yield words


def missing(node: NodeState, text: str) -> Iterator[str]:
    """Programs, with nvidia-ctk's subcommand, that this text names and the node does not have."""
    for words in commands(text):
        program = words[0]
        shown = " ".join(words[:2]) if program in ("nvidia-ctk", "systemctl") else program
        if program == "systemctl":
            shown = f"systemctl {words[-1]}"
        needs = PROGRAMS.get(program)
        if needs is None:
            yield f"unknown program {program}"
        elif not needs(node, words) and not re.search(_INSTALLS + re.escape(program), text):
            yield shown
