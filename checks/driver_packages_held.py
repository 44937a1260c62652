"""Automatic updates leave NVIDIA's driver alone.

An unattended update of the driver replaces the library under the module in memory: from then on
every new process and container fails ("Driver/library version mismatch") until somebody reboots.
Held packages change only when their owner says so. Hold fabric manager and driver together: they
have to be one version. Where Ubuntu's ready-made modules are used, hold the kernel's package with
them: a newer kernel boots without a module while the driver is held.

Bad:

    unattended-upgrades on   libnvidia-compute-550 free to change

Good:

    unattended-upgrades on   libnvidia-compute-550 held (apt-mark hold)

Repair: bring the driver in step first where it is not. Then `deploys/fix_driver.py`, or hold the
packages with the distribution's own tool, or name them
in unattended-upgrades' Package-Blacklist. Security updates of the driver then wait for you.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.driver_packages import held_together
from pyinfra_nvml.facts.automatic_updates import AutomaticUpdatesState
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_driver import ABSENT
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState, Package
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_DPKG_UPDATERS = ("unattended-upgrades",)


def check(node: NodeState) -> Iterator[Outcome]:
    """Driver packages that an automatic update may replace."""
    packages = _packages(node)
    if isinstance(node.wsl, WslState):
        yield NotApplicable("WSL: Windows brings the driver")
    elif packages is None:
        yield NotApplicable(ABSENT)
    elif isinstance(packages, Unknown):
        yield Undetermined("driver packages", packages.reason)
    elif not (driver := held_together(packages.known)):
        yield from _without_packages(packages)
    elif isinstance(node.automatic_updates, Unknown):
        yield Undetermined("automatic updates", node.automatic_updates.reason)
    else:
        yield from _judge(node, node.automatic_updates, driver)


def _packages(node: NodeState) -> NvidiaPackagesState | Unknown | None:
    driver = node.nvidia_driver
    return driver if driver is None or isinstance(driver, Unknown) else driver.packages


def _without_packages(packages: NvidiaPackagesState) -> Iterator[Outcome]:
    unread = [part for part in (packages.dpkg, packages.rpm) if isinstance(part, Unknown)]
    if unread:
        yield Undetermined("driver packages", unread[0].reason)
    else:
        yield NotApplicable("no package manager knows the driver (its container, or .run file)")


def _judge(
    node: NodeState, updates: AutomaticUpdatesState, driver: tuple[Package, ...]
) -> Iterator[Outcome]:
    exposed = [package for package in driver if _touched(updates, package)]
    if not exposed:
        return
    holds = node.package_holds
    if isinstance(holds, Unknown):
        yield Undetermined("package holds", holds.reason)
        return
    free = [package for package in exposed if not holds.on(package.name)]
    if free and holds.unread:
        yield Undetermined("package holds", holds.unread[0].reason)
    elif free:
        yield _finding(updates, free)


def _touched(updates: AutomaticUpdatesState, package: Package) -> bool:
    """Whether one of the automatic updates is of this package's manager and takes it."""
    apt = [name for name in updates.by if name in _DPKG_UPDATERS]
    if package.manager == "dpkg":
        return bool(apt) and not updates.leaves_out(package.name.partition(":")[0])
    return len(apt) < len(updates.by)


def _finding(updates: AutomaticUpdatesState, free: list[Package]) -> Finding:
    names = list(dict.fromkeys(package.name.partition(":")[0] for package in free))
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return Finding(
        level=Level.ADVICE,
        subject="driver packages",
        saw=f"{', '.join(updates.by)} on, not held: {shown}",
        want="held, or left out of automatic updates",
        why="an update of the driver by itself breaks every new container until a reboot",
        fix=("hold-packages", "hold-by-hand"),
        avoid="holding cuda-drivers alone: what it depends on changes without it",
        evidence=tuple(f"allowed: {origin}" for origin in updates.origins),
    )
