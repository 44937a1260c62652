"""Which packages to hold with the driver, by which means, and which to release again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyinfra_nvml.combiners.driver_packages import held_together
from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState, Package
from pyinfra_nvml.facts.package_holds import PackageHoldsState
from pyinfra_nvml.model.refusal import Refusal
from pyinfra_nvml.model.unknown import Unknown

# These come in one version of their own, and apart from each other they do not work (their
# packages depend on the same version of each other).
_TOOLKIT = re.compile(
    r"^(?:nvidia-container-(?:toolkit(?:-base)?|runtime)|libnvidia-container(?:1|-tools))$"
)


HOLD = {
    "apt-mark": "apt-mark hold",
    "dnf": "dnf versionlock add",
    "dnf5": "dnf versionlock add",
    "yum": "yum versionlock add",
    "zypper": "zypper addlock",
}
"""The command of each means; names follow it."""


@dataclass(frozen=True)
class Holding:
    """What to hold and what to release: pairs of a means and a package's name, and a blacklist.

    ``blacklist`` are the names that our piece of apt's configuration is to have: ``None`` leaves
    it as it is, empty takes it away. ``notes`` are told as well.

    .. code:: python

        Holding(add=(("apt-mark", "libnvidia-compute-550"),), drop=(), blacklist=None)
    """

    add: tuple[tuple[str, str], ...] = ()
    drop: tuple[tuple[str, str], ...] = ()
    blacklist: tuple[str, ...] | None = None
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING = Holding()
"""Nothing to hold and nothing to release."""


def holding(
    packages: NvidiaPackagesState | Unknown,
    holds: PackageHoldsState | Unknown,
    means: HoldToolsState | Unknown,
    way: str,
) -> Holding:
    """What makes a node's holds those that the setting ``hold_driver`` wants."""
    if way == "leave":
        return NOTHING
    if isinstance(means, Unknown):
        return _refused("package holds", means.reason, "to know them")
    if way == "release":
        return Holding(drop=means.held, blacklist=_gone(means))
    if reasons := _unread(packages, holds):
        return Holding(refusals=reasons)
    # _unread has refused what is not one.
    known = packages.known if isinstance(packages, NvidiaPackagesState) else ()
    wanted = held_together(known)
    notes = _notes(wanted, means)
    if isinstance(holds, PackageHoldsState):
        wanted += _toolkit(known, holds)
    if half := _half_done(known):
        return Holding(refusals=(half,))
    if way == "blacklist":
        return _blacklisted(wanted, means, notes)
    return _held(wanted, holds, means, notes)


def _unread(
    packages: NvidiaPackagesState | Unknown, holds: PackageHoldsState | Unknown
) -> tuple[Refusal, ...]:
    parts: list[object] = [packages, holds]
    if isinstance(packages, NvidiaPackagesState):
        parts += [packages.dpkg, packages.rpm]
    if isinstance(holds, PackageHoldsState):
        parts += holds.unread
    reasons = dict.fromkeys(part.reason for part in parts if isinstance(part, Unknown))
    return tuple(Refusal("driver packages", reason, "to know them") for reason in reasons)


def _held(
    wanted: tuple[Package, ...],
    holds: PackageHoldsState | Unknown,
    means: HoldToolsState,
    notes: list[str],
) -> Holding:
    free = [p for p in wanted if isinstance(holds, PackageHoldsState) and not holds.on(p.name)]
    managers = {package.manager for package in free}
    refusals = []
    if "dpkg" in managers and "apt-mark" not in means.tools:
        refusals.append(Refusal("apt-mark", "not on this node", "it, to hold packages with"))
    if "rpm" in managers and means.locks is None:
        refusals.append(_no_lock(means))
    by = {"dpkg": "apt-mark", "rpm": means.locks or ""}
    return Holding(
        add=tuple(dict.fromkeys((by[package.manager], package.name) for package in free)),
        # Our blacklist was asked for by another value of the setting.
        blacklist=_gone(means),
        refusals=tuple(refusals),
        notes=tuple(notes),
    )


def _no_lock(means: HoldToolsState) -> Refusal:
    install = "dnf install 'dnf-command(versionlock)'"
    if "dnf" not in means.tools:
        install = "yum install yum-plugin-versionlock" if "yum" in means.tools else ""
    saw = "none that can lock a version" if not install else "dnf or yum without versionlock"
    instead = f"{install}, or hold_driver = 'leave'" if install else "hold_driver = 'leave'"
    return Refusal("package manager", saw, "one that holds rpm packages", instead)


def _blacklisted(wanted: tuple[Package, ...], means: HoldToolsState, notes: list[str]) -> Holding:
    debs = sorted({p.name.partition(":")[0] for p in wanted if p.manager == "dpkg"})
    if any(package.manager == "rpm" for package in wanted):
        return _refused("hold_driver", "blacklist, and a driver of rpm packages", "packages")
    if debs and "unattended-upgrade" not in means.tools:
        return _refused("unattended-upgrades", "not on this node", "it, or hold_driver packages")
    # Each entry is a regex at the beginning of a name (unattended-upgrades, README.md).
    entries = tuple(f"{name.replace('.', '[.]').replace('+', '[+]')}$" for name in debs)
    same = (means.blacklist or ()) == entries
    return Holding(drop=means.held, blacklist=None if same else entries, notes=tuple(notes))


def _gone(means: HoldToolsState) -> tuple[str, ...] | None:
    return None if means.blacklist is None else ()


def _half_done(known: tuple[Package, ...]) -> Refusal | None:
    """An update that dpkg has not ended (dpkg(1): second letter of the state, third an error)."""
    half = [
        package.name
        for package in known
        if package.manager == "dpkg" and (package.status[1:2] != "i" or package.status[2:3])
    ]
    if not half:
        return None
    saw = f"half installed: {', '.join(half)}"
    return Refusal("dpkg", saw, "the update ended", "dpkg --configure -a")


def _toolkit(known: tuple[Package, ...], holds: PackageHoldsState) -> tuple[Package, ...]:
    """The toolkit's packages, where the owner holds a part of them: held in half they break."""
    kit = [p for p in known if _TOOLKIT.match(p.name.partition(":")[0]) and p.manager != "dkms"]
    return tuple(kit) if any(holds.on(package.name) for package in kit) else ()


def _notes(wanted: tuple[Package, ...], means: HoldToolsState) -> list[str]:
    notes = []
    if not wanted and "pacman" in means.tools:
        notes.append(
            "pacman: put nvidia-utils and the nvidia package into IgnorePkg of /etc/pacman.conf;"
            " this is not done here"
        )
    elif not wanted:
        notes.append("no package manager knows the driver: there is nothing to hold")
    if any(package.name.startswith("linux-modules-nvidia") for package in wanted):
        # Ubuntu's ready-made modules: one package per kernel and driver.
        notes.append(
            "the module comes ready-made for each kernel, and a newer kernel boots without it:"
            " the kernel's package is held together with the driver's, and security updates of the"
            " kernel wait too"
        )
    return notes


def _refused(subject: str, saw: str, want: str) -> Holding:
    return Holding(refusals=(Refusal(subject, saw, want),))
