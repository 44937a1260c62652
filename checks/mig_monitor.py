"""On a MIG node, only the monitors that the inventory names may see across instances.

With MIG on, a container holds its GPU and compute instance and nothing more: memory totals and
processes of the parent GPU read as `[Insufficient Permissions]` (NVMLError_NoPermission) by design.
An ordinary program asks the handle of its MIG device. A monitor needs both
`NVIDIA_MIG_MONITOR_DEVICES=all` and CAP_SYS_ADMIN; one without the other is not enough.
NVIDIA_DRIVER_CAPABILITIES chooses libraries and gives no such right, `all` included. The CDI modes
up to toolkit 1.20.0 do not read the variable, nor does CDI by Docker itself: there the device node
of the right is passed. Whoever has the right sees every tenant's instances;
NVIDIA_MIG_CONFIG_DEVICES may also destroy them. The pods of NVIDIA's GPU Operator have these rights
by design and are left alone.

Bad:

    container exporter   NVIDIA_MIG_MONITOR_DEVICES=all, no CAP_SYS_ADMIN
    container notebook   CAP_SYS_ADMIN, not on mig_monitors

Good:

    container exporter   NVIDIA_MIG_MONITOR_DEVICES=all, CAP_SYS_ADMIN, on mig_monitors
    container notebook   neither

Repair: by hand: recreate the container with both or with neither, or name it in the setting
`mig_monitors`. `deploys/mig_monitor.py` writes out a monitor with just these rights.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.mig_rights import (
    CONFIG,
    MONITOR,
    Holder,
    holders,
    variable_read,
)
from pyinfra_nvml.facts.mig import CONFIG_NODE, MONITOR_NODE
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.settings.policy import Policy

AREA = Area.DEVICES


def check(node: NodeState, policy: Policy) -> Iterator[Outcome]:
    """Rights that are missing, useless, or too many."""
    mig = node.mig
    on = mig if mig is None or isinstance(mig, Unknown) else mig.on
    if on is None:
        yield NotApplicable("no nvidia module is loaded, so no MIG")
    elif on is False:
        yield NotApplicable("MIG is on for no GPU of this node")
    else:
        found, unread = holders(node)
        judged = [one for holder in found for one in _judge(holder, node, policy)]
        if isinstance(on, Unknown) and (judged or unread):
            yield Undetermined("MIG", on.reason)
            return
        yield from judged
        for part in unread:
            yield Undetermined("containers", part.reason)


def _judge(one: Holder, node: NodeState, policy: Policy) -> Iterator[Finding | Undetermined]:
    if one.operand:
        return
    monitor, config = one.value(MONITOR), one.value(CONFIG)
    meant = policy.monitor(*one.names)
    if one.config_node or (config and one.sys_admin):
        had = CONFIG_NODE if one.config_node else f"{CONFIG}={config}"
        yield _finding(one, Level.AT_RISK, had + (" and CAP_SYS_ADMIN" * one.sys_admin), *_CONFIG)
    elif (monitor or config) and not (one.sys_admin or one.monitor_node):
        level = Level.BROKEN if meant else Level.ADVICE
        variable = MONITOR if monitor else CONFIG
        yield _finding(one, level, f"{variable} without CAP_SYS_ADMIN", *_HALF)
    elif not meant and (one.sys_admin or one.monitor_node):
        level = Level.AT_RISK if policy.mig_monitors else Level.ADVICE
        yield _finding(one, level, f"{_held(one, monitor)}, on no list", *_TOO_MANY)
    elif meant and not (monitor or one.monitor_node):
        yield from _no_variable(one)
    elif meant and not one.monitor_node:
        yield from _unread(one, variable_read(one, node.container_toolkit))


def _held(one: Holder, monitor: str) -> str:
    """What gives the right, or would with the rest of it."""
    held = ["CAP_SYS_ADMIN"] * one.sys_admin + [f"{MONITOR}={monitor}"] * bool(monitor)
    return " and ".join(held + [MONITOR_NODE] * one.monitor_node)


def _unread(one: Holder, read: bool | Unknown) -> Iterator[Finding | Undetermined]:
    if isinstance(read, Unknown):
        yield Undetermined(f"container {one.name}", f"whether its {MONITOR} is read: {read.reason}")
    elif not read:
        yield _finding(one, Level.ADVICE, f"{MONITOR} with CDI, which does not read it", *_IGNORED)


def _no_variable(one: Holder) -> Iterator[Finding]:
    every = "all" in one.value("NVIDIA_DRIVER_CAPABILITIES").split(",")
    hoped = "; NVIDIA_DRIVER_CAPABILITIES=all chooses libraries and gives no right" if every else ""
    level, saw = Level.BROKEN, f"a monitor by the inventory, neither {MONITOR} nor CAP_SYS_ADMIN"
    if one.sys_admin:
        level, saw = Level.ADVICE, f"CAP_SYS_ADMIN without {MONITOR}"
    want, why, do = _HALF
    yield _finding(one, level, saw, want, why + hoped, do)


_Words = tuple[str, str, str]
_HALF: _Words = (
    f"{MONITOR}=all and CAP_SYS_ADMIN, both, on monitors alone; neither elsewhere",
    "one without the other does not open the parent GPU: it reads [Insufficient Permissions]",
    f"a monitor: start it with both (docker run --cap-add SYS_ADMIN -e {MONITOR}=all;"
    " deploys/mig_monitor.py writes it out); any other program: take it out and ask the MIG"
    " device's own handle",
)
_TOO_MANY: _Words = (
    "the right on the monitors that the inventory names (mig_monitors)",
    "it sees the memory and processes of every tenant's instances",
    "name it in mig_monitors if it is a monitor, else start it without the capability",
)
_CONFIG: _Words = (
    "this right with NVIDIA's MIG manager alone",
    "it may destroy every tenant's instances and switch MIG off",
    f"recreate it without {CONFIG}",
)
_IGNORED: _Words = (
    "the runtime nvidia with toolkit 1.20.1 or newer in its mode jit-cdi, or the right's own node"
    " /dev/nvidia-caps/nvidia-cap2 passed",
    "the CDI modes up to toolkit 1.20.0, the mode cdi, and CDI by Docker itself do not read the"
    " variable and say nothing: the parent GPU reads [Insufficient Permissions]",
    "deploys/mig_monitor.py writes out the form for this node: the node passed with --device"
    " beside the capability; or update the toolkit",
)


def _finding(one: Holder, level: Level, saw: str, want: str, why: str, do: str) -> Finding:
    caps = one.value("NVIDIA_DRIVER_CAPABILITIES")
    return Finding(
        level=level,
        subject=f"container {one.name}" + (f" of pod {one.pod}" if one.pod else ""),
        saw=saw,
        want=want,
        why=why,
        repair=Repair.MANUAL,
        do=do,
        avoid="privileged: true, or NVIDIA_DRIVER_CAPABILITIES=all: the one gives far too much, the"
        " other nothing of this",
        evidence=(
            f"image {one.image}",
            *((f"NVIDIA_DRIVER_CAPABILITIES={caps}",) if caps else ()),
        ),
        reference="https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
    )
