"""A system container that its host allows the GPU's device nodes, and gives them.

For LXC and LXD guests. The guest itself can make no node and load no module.
"""

from __future__ import annotations

from pyinfra_nvml.combiners.guest import guest, on_host
from pyinfra_nvml.facts.nvidia_params import NvidiaParamsState
from pyinfra_nvml.model.finding import Finding
from pyinfra_nvml.model.remedy import Remedy, Repair
from pyinfra_nvml.remedies.context import Context


def prescribe(context: Context, finding: Finding) -> Remedy | None:
    """What the host loads and writes; nothing on a node that is no guest."""
    manager = guest(context.node)
    if not manager:
        return None
    host = on_host(context.node)
    if finding.target.startswith("/dev/"):
        params = context.node.nvidia_params
        major = params.uvm_major if isinstance(params, NvidiaParamsState) else None
        path = finding.target
        number = major if path.endswith("uvm") and major else "MAJOR"
        number = 195 if path.endswith("nvidiactl") else number
        text = (
            f"{host}nvidia-modprobe -c0 -u, then give {path} to the container (lxc:"
            f" lxc.cgroup2.devices.allow = c {number}:* rwm and lxc.mount.entry = {path}"
            f" {path[1:]} none bind,optional,create=file, MAJOR as in /proc/devices; LXD"
            " and Incus: a device of type gpu), and"
            " start it again"
        )
    else:
        text = (
            f"on its host, allow {manager} the majors of nvidia and nvidia-uvm (/proc/devices names"
            " them; lxc: lxc.cgroup2.devices.allow = c 195:* rwm), then start this container again"
        )
    return Remedy("guest-devices", Repair.MANUAL, text)
