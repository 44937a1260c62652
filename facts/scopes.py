"""The systemd scopes of containers: what systemd itself will let them open."""

from __future__ import annotations

from dataclasses import dataclass

from pyinfra_nvml.facts.probe import Probe, Section
from pyinfra_nvml.model.unknown import Unknown, Value

# Every runtime names a container's scope PREFIX-ID.scope, with an id of 64 digits: docker-,
# cri-containerd-, crio-, libpod- (podman), nerdctl-.
_PATTERN = f"*-{'?' * 64}.scope"

_SHOW = (
    "[ -d /run/systemd/system ] || exit 0\n"
    "systemctl show --no-pager -p Id,ControlGroup,ActiveState,DevicePolicy,DeviceAllow,"
    f"NeedDaemonReload,BPFProgram '{_PATTERN}'"
)

PROBE = Probe("scopes.show", _SHOW, cap=1024)
"""Needs no root. A glob matches units in memory only, which a running container's scope is."""


@dataclass(frozen=True)
class Scope(Value):
    """One container's scope, as ``systemctl show`` prints it (systemd.resource-control(5)).

    ``program`` is whether its device filter is a program that the runtime handed to systemd
    (``BPFProgram=device:PATH``): crun does so from 1.23 on and names no device in ``DeviceAllow``
    then (containers/crun, src/libcrun/cgroup-systemd.c). What is in it cannot be read here.

    .. code:: python

        Scope("docker-4f66....scope", device_policy="strict",
              device_allow=("/dev/char/195:255 rwm", "char-136 rwm"), need_daemon_reload=False)
    """

    name: str
    device_policy: str
    device_allow: tuple[str, ...]
    need_daemon_reload: bool = False
    program: bool = False

    def allows(self, major: int, minor: int) -> bool:
        """Whether systemd's next write of the device filter lets this character device through.

        ``auto`` with an empty list and no policy is no filter at all: what runc asks for a
        privileged container. ``char-*`` and ``char-NAME`` entries name drivers by /proc/devices;
        runc's own ``char-* m`` gives mknod only.
        """
        if self.device_policy == "auto" and not self.device_allow:
            return not self.program
        wanted = {f"/dev/char/{major}:{minor}", f"char-{major}", "char-*"}
        if major == NVIDIA_MAJOR:
            wanted |= {"char-nvidia", "char-nvidia-frontend", f"/dev/{_nvidia_name(minor)}"}
        for entry in self.device_allow:
            specifier, _, access = entry.partition(" ")
            if specifier in wanted and "r" in access:
                return True
        return False

    def allows_any(self, major: int) -> bool:
        """Whether a rule names a device of this major."""
        numbered = (f"/dev/char/{major}:", f"char-{major} ")
        named = ("/dev/nvidia", "char-nvidia") if major == NVIDIA_MAJOR else ()
        return any(entry.startswith((*numbered, *named)) for entry in self.device_allow)


NVIDIA_MAJOR = 195
"""Linux Documentation/admin-guide/devices.txt; minors 0 to 253 GPUs, 254 modeset, 255 control."""


def _nvidia_name(minor: int) -> str:
    return {255: "nvidiactl", 254: "nvidia-modeset"}.get(minor, f"nvidia{minor}")


def scopes(answer: Section) -> dict[str, Scope] | Unknown:
    """Control group path to scope, of every container's scope that systemd holds."""
    if answer.rc == 127 or (answer.rc == 0 and not answer.out.strip()):
        return {}
    if answer.trouble:
        return answer.trouble
    if "ControlGroup=" not in answer.out:
        return Unknown(f"{answer.name}: no ControlGroup in its answer")
    found = {}
    for block in answer.out.split("\n\n"):
        values: dict[str, list[str]] = {}
        for line in block.splitlines():
            key, equals, value = line.partition("=")
            if equals:
                values.setdefault(key, []).append(value)
        path = values.get("ControlGroup", [""])[0]
        if path:
            found[path] = _scope(values)
    return found


def _scope(values: dict[str, list[str]]) -> Scope:
    return Scope(
        name=values.get("Id", [""])[0],
        device_policy=values.get("DevicePolicy", [""])[0],
        device_allow=tuple(entry for entry in values.get("DeviceAllow", []) if entry),
        need_daemon_reload=values.get("NeedDaemonReload", ["no"])[0] == "yes",
        program=any(program.startswith("device:") for program in values.get("BPFProgram", [])),
    )
