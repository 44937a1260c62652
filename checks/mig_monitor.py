"""On a MIG node, only the monitors that the inventory names may see across instances.

With MIG on, a container holds its GPU and compute instance and nothing more: memory totals and
processes of the parent GPU read as `[Insufficient Permissions]` (NVMLError_NoPermission) by design.
An ordinary program asks the handle of its MIG device. A monitor needs both
`NVIDIA_MIG_MONITOR_DEVICES=all` and CAP_SYS_ADMIN; one without the other does not do.
NVIDIA_DRIVER_CAPABILITIES chooses libraries and gives no such right, `all` included. Up to toolkit
1.20.0 the CDI modes do not read the variable. What has the right sees every tenant's instances;
NVIDIA_MIG_CONFIG_DEVICES may also destroy them. The pods of NVIDIA's GPU Operator have these rights
by design and are left alone.

Bad:

    container exporter   NVIDIA_MIG_MONITOR_DEVICES=all, no CAP_SYS_ADMIN
    container notebook   CAP_SYS_ADMIN, not on mig_monitors

Good:

    container exporter   NVIDIA_MIG_MONITOR_DEVICES=all, CAP_SYS_ADMIN, on mig_monitors
    container notebook   neither

Repair: a human starts the container anew with both or with
neither, or names it in the knob `mig_monitors`.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.finding import Area, Doubt, Finding, Level, NotApplicable, Outcome, Repair
from audit.mig_rights import CONFIG, MONITOR, Holder, holders, ignored
from audit.wishes import Wishes
from facts.node import NodeState
from facts.unknown import Unknown

AREA = Area.REST


def check(node: NodeState, wishes: Wishes) -> Iterator[Outcome]:
    """Rights that are missing, useless, or too many."""
    mig = node.mig
    on = mig if mig is None or isinstance(mig, Unknown) else mig.on
    if on is None:
        yield NotApplicable("no nvidia module is loaded, so no MIG")
    elif on is False:
        yield NotApplicable("MIG is on for no GPU of this node")
    else:
        found, unread = holders(node)
        judged = [one for holder in found for one in _judge(holder, node, wishes)]
        if isinstance(on, Unknown) and (judged or unread):
            yield Doubt("MIG", on.reason)
            return
        yield from judged
        for part in unread:
            yield Doubt("containers", part.reason)


def _judge(one: Holder, node: NodeState, wishes: Wishes) -> Iterator[Finding]:
    if one.operand:
        return
    monitor, config = one.value(MONITOR), one.value(CONFIG)
    meant = wishes.monitor(*one.names)
    if config and one.sys_admin:
        yield _finding(one, Level.AT_RISK, f"{CONFIG}={config} and CAP_SYS_ADMIN", *_CONFIG)
    elif (monitor or config) and not one.sys_admin:
        level = Level.BROKEN if meant else Level.ADVICE
        variable = MONITOR if monitor else CONFIG
        yield _finding(one, level, f"{variable} without CAP_SYS_ADMIN", *_HALF)
    elif not meant and one.sys_admin:
        level = Level.AT_RISK if wishes.mig_monitors else Level.ADVICE
        saw = f"CAP_SYS_ADMIN{f' and {MONITOR}={monitor}' if monitor else ''}, on no list"
        yield _finding(one, level, saw, *_TOO_MANY)
    elif meant and not monitor:
        yield from _no_variable(one)
    elif meant and one.cdi and ignored(node.toolkit):
        yield _finding(one, Level.ADVICE, f"{MONITOR} with CDI", *_IGNORED)


def _no_variable(one: Holder) -> Iterator[Finding]:
    every = "all" in one.value("NVIDIA_DRIVER_CAPABILITIES").split(",")
    hoped = "; NVIDIA_DRIVER_CAPABILITIES=all chooses libraries and gives no right" if every else ""
    if one.sys_admin:
        want, why, do = _HALF
        yield _finding(one, Level.ADVICE, f"CAP_SYS_ADMIN without {MONITOR}", want, why + hoped, do)
    else:
        want, why, do = _HALF
        saw = f"a monitor by the inventory, neither {MONITOR} nor CAP_SYS_ADMIN"
        yield _finding(one, Level.BROKEN, saw, want, why + hoped, do)


_Words = tuple[str, str, str]
_HALF: _Words = (
    f"{MONITOR}=all and CAP_SYS_ADMIN, both, on monitors alone; neither elsewhere",
    "one without the other does not open the parent GPU: it reads [Insufficient Permissions]",
    "a monitor: start it with both (docker run --cap-add SYS_ADMIN -e"
    f" {MONITOR}=all); any other program: take it out and ask the MIG device's own handle",
)
_TOO_MANY: _Words = (
    "the right on the monitors that the inventory names (mig_monitors)",
    "it sees the memory and processes of every tenant's instances",
    "name it in mig_monitors if it is a monitor, else start it without the capability",
)
_CONFIG: _Words = (
    "this right with NVIDIA's MIG manager alone",
    "it may destroy every tenant's instances and switch MIG off",
    f"start it anew without {CONFIG}",
)
_IGNORED: _Words = (
    "toolkit newer than 1.20.0, or the node /dev/nvidia-caps/nvidia-cap2 passed with --device",
    "the CDI modes up to toolkit 1.20.0 do not read the variable and say nothing",
    "pass --device /dev/nvidia-caps/nvidia-cap2 beside the capability, or update the toolkit",
)


def _finding(one: Holder, level: Level, saw: str, want: str, why: str, do: str) -> Finding:
    caps = one.value("NVIDIA_DRIVER_CAPABILITIES")
    return Finding(
        level=level,
        subject=f"container {one.name}" + (f" of pod {one.pod}" if one.pod else ""),
        saw=saw,
        want=want,
        why=why,
        repair=Repair.HUMAN,
        do=do,
        avoid="privileged: true, or NVIDIA_DRIVER_CAPABILITIES=all: the one gives far too much, the"
        " other nothing of this",
        evidence=(
            f"image {one.image}",
            *((f"NVIDIA_DRIVER_CAPABILITIES={caps}",) if caps else ()),
        ),
        reference="https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
    )
