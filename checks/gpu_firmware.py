"""Every GPU of the node has loaded its firmware (GSP) since boot.

From Turing on, the module loads a firmware into the GPU, from a file of exactly its own version
under /lib/firmware/nvidia. A driver update removes the old file: a GPU that is reset or first
opened after it finds none until the node boots with the new module.

Bad:

    NVRM: RmInitAdapter: Cannot initialize GSP firmware RM

Good:

    no such line since boot

Repair: if versions differ, driver-skew has the repair. If they are equal, by hand: reset or
power-cycle the GPU, then read the vendor's notes on this driver.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.kernel_log import kernel_log
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_log import NvidiaLogState
from pyinfra_nvml.model.finding import Area, Finding, Level, Outcome

AREA = Area.VERSIONS


def check(node: NodeState) -> Iterator[Outcome]:
    """The firmware's failures in the kernel log of this boot."""
    log = kernel_log(node)
    if not isinstance(log, NvidiaLogState):
        yield log
    elif log.firmware:
        driver = node.nvidia_driver
        loaded = driver.loaded if isinstance(driver, NvidiaDriverState) else None
        yield _finding(str(loaded), log.firmware)


def _finding(loaded: str, lines: tuple[str, ...]) -> Finding:
    return Finding(
        level=Level.BROKEN,
        subject="GPU firmware",
        saw=f"{len(lines)} failures to start it since boot, module {loaded}",
        want=f"the firmware of {loaded} in /lib/firmware/nvidia/{loaded}, and every GPU up with it",
        why="the module takes no firmware of another version, and a GPU without it is not there",
        fix=("power-cycle",),
        avoid="copying firmware of another version into place",
        evidence=lines[-3:],
        reference="checks.md#gpu-firmware",
    )
