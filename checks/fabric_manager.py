"""NVSwitch machines run a fabric manager of exactly the driver's version.

On HGX and DGX machines no CUDA program starts until the fabric manager has joined the GPUs, and it
refuses a driver of any other version, the same branch included. If a driver update leaves it
behind, it fails at its next start. B200 and B300 hide their NVSwitches from the PCI bus; those of
GB200 and GB300 are in the rack, run by its own system. A machine without NVSwitch needs no fabric
manager: there it fails ("nothing to do") and does no harm.

Bad:

    driver 550.120   nv-fabricmanager 550.127.05   nvidia-fabricmanager.service failed

Good:

    driver 550.127.05   nv-fabricmanager 550.127.05   nvidia-fabricmanager.service active

Repair: by hand: install the version that equals the driver, and hold both together.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.nvswitches import NvSwitches, impossible, nvswitches
from pyinfra_nvml.facts.fabric_manager import FabricManagerState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.VERSIONS


def check(node: NodeState) -> Iterator[Outcome]:
    """A fabric manager that is missing, stopped, or of another version than the driver."""
    driver, manager = node.nvidia_driver, node.fabric_manager
    if driver is None:
        yield NotApplicable(ABSENT)
    elif isinstance(driver, Unknown):
        yield Undetermined("driver", driver.reason)
    elif isinstance(driver.devices, Unknown):
        yield Undetermined("NVSwitches", driver.devices.reason)
    elif not (switches := nvswitches(node)).whole and not _enabled(manager):
        yield NotApplicable("no NVSwitch that is this node's, and no fabric manager enabled")
    elif isinstance(manager, Unknown):
        yield Undetermined("fabric manager", manager.reason)
    elif isinstance(driver.loaded, Unknown):
        yield Undetermined("loaded module", driver.loaded.reason)
    elif driver.loaded is None:
        yield NotApplicable("no nvidia module is loaded (see driver-skew)")
    else:
        yield from _judge(node, driver.loaded, manager, switches)


def _enabled(manager: FabricManagerState | Unknown | None) -> bool:
    return isinstance(manager, FabricManagerState) and manager.enabled == "enabled"


def _judge(
    node: NodeState,
    loaded: str,
    manager: FabricManagerState | None,
    switches: NvSwitches,
) -> Iterator[Outcome]:
    if manager is None:
        yield _finding(Level.BROKEN, f"{switches.told}, no fabric manager", loaded, _ABSENT)
        return
    up = manager.running is True or manager.active == "active"
    if not switches and not up and impossible(node):
        yield _left_over(loaded, manager)
        return
    if isinstance(manager.version, Unknown):
        yield Undetermined("fabric manager", manager.version.reason)
    elif manager.version and manager.version != loaded:
        saw = f"fabric manager {manager.version}, driver {loaded}, {_state(manager)}"
        level = Level.BROKEN if switches and not up else Level.AT_RISK
        yield _finding(level, saw, loaded, _OTHER)
        return
    if not up and isinstance(manager.running, Unknown):
        yield Undetermined("fabric manager", manager.running.reason)
    elif not up and switches:
        saw = f"{switches.told}, fabric manager {_state(manager)}"
        yield _finding(Level.BROKEN, saw, loaded, _ABSENT)


def _left_over(loaded: str, manager: FabricManagerState) -> Finding:
    told = manager.version if isinstance(manager.version, str) else "of an unknown version"
    return Finding(
        level=Level.ADVICE,
        subject="fabric manager",
        saw=f"fabric manager {told} enabled, {_state(manager)}, driver {loaded}, no NVSwitch",
        want="no fabric manager on a machine without NVSwitch",
        why="it finds nothing to do and fails at every boot; CUDA does not need it here",
        fix=("fabric-manager",),
        target="left over",
        avoid="updating the driver for it",
    )


_ABSENT = "without it no CUDA program starts here (system not yet initialized)"
_OTHER = "it refuses a driver of another version at its next start, the same branch included"


def _state(manager: FabricManagerState) -> str:
    return manager.active if isinstance(manager.active, str) else "without a unit"


def _finding(level: Level, saw: str, loaded: str, why: str) -> Finding:
    return Finding(
        level=level,
        subject="fabric manager",
        saw=saw,
        want=f"fabric manager {loaded}, active",
        why=why,
        fix=("fabric-manager",),
        avoid="changing the containers or their engine",
        reference="https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/",
    )
