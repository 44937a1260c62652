"""No GPU of the node has fallen off the bus since it booted.

Xid 79 in the kernel log: the GPU no longer answers on PCI Express (power, heat, a bad seat or
riser, the card itself). Whoever opens it may hang in the kernel, nvidia-smi and `docker restart`
included. So this audit opens no device on such a node; what it would have seen is unknown.

Bad:

    NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.

Good:

    no such line since boot

Repair: by hand: take the node out of service. A reboot or a power cycle brings the GPU back, if
anything does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyinfra_nvml.combiners.kernel_log import kernel_log
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_log import NvidiaLogState
from pyinfra_nvml.model.finding import Area, Finding, Level, Outcome

AREA = Area.DEVICES


def check(node: NodeState) -> Iterator[Outcome]:
    """Every GPU with an Xid 79 in the kernel log of this boot."""
    log = kernel_log(node)
    if not isinstance(log, NvidiaLogState):
        yield log
        return
    gpus: dict[str, str] = {}
    for line in log.fallen:
        found = re.match(r"(?:Xid \((?:PCI:)?|The NVIDIA GPU )([0-9a-f:]+)", line)
        gpus.setdefault(found[1] if found else "?", line)
    for slot, line in gpus.items():
        yield _finding(slot, line)


def _finding(slot: str, line: str) -> Finding:
    return Finding(
        level=Level.BROKEN,
        subject=f"GPU {slot}",
        saw=f"{'Xid 79' if line.startswith('Xid') else 'no Xid'} since boot: it has fallen off the"
        " bus",
        want="the GPU on the bus",
        why="nothing reaches it until the node reboots, and whoever opens it may hang for good",
        fix=("power-cycle",),
        avoid="nvidia-smi, docker restart and a restart of docker: they may hang on the GPU",
        evidence=(line,),
        reference="https://docs.nvidia.com/deploy/xid-errors/",
    )
