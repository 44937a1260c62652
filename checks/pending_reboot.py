"""Nothing on the node waits for a reboot.

Debian and Ubuntu write /run/reboot-required, SUSE /run/reboot-needed; on Red Hat's systems packages
newer than the last boot show it. Somebody or something (kured, unattended-upgrades) will reboot a
node that waits, and every container stops then. NVIDIA's packages do not ask for a reboot: a driver
that was updated without one is found by driver-skew.

Bad:

    /run/reboot-required   since 2026-03-01, linux-image-6.8.0-107-generic

Good:

    /run/reboot-required   not there

Repair: by hand: choose the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.reboot_required import RebootRequest
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_OURS = "pyinfra-nvml: "
"""What operations/reboot.py writes before its own line: driver-skew tells of that already."""


def check(node: NodeState) -> Iterator[Outcome]:
    """Requests for a reboot with their packages and age."""
    machine = node.machine
    if isinstance(node.reboot_required, Unknown):
        yield Undetermined("reboot flags", node.reboot_required.reason)
    elif not isinstance(machine, Unknown) and machine.container in ("docker", "podman"):
        yield NotApplicable(f"this node is a container ({machine.container}): its host boots")
    else:
        for request in node.reboot_required.requests:
            if not _own(request):
                yield _finding(request)


def _own(request: RebootRequest) -> bool:
    others = [line for line in request.words if not line.startswith(_OURS)]
    return bool(request.words) and not others and not request.packages


def _finding(request: RebootRequest) -> Finding:
    packages = request.packages
    shown = ", ".join(packages[:4]) + (
        f" and {len(packages) - 4} more" if len(packages) > 4 else ""
    )
    return Finding(
        level=Level.ADVICE,
        subject="node",
        saw=f"{request.source} asks for a reboot since {request.since}"
        + (f": {shown}" if shown else ""),
        want="no reboot pending",
        why="the reboot will come, and it stops every container",
        fix=("choose-reboot-time",),
        evidence=request.words,
    )
