"""What is held with the driver, by which means, and what is let go again."""

from __future__ import annotations

from typing import Any

import pytest

from pyinfra_nvml.facts.hold_tools import HoldToolsState
from pyinfra_nvml.facts.nvidia_packages import NvidiaPackagesState, Package
from pyinfra_nvml.facts.package_holds import Hold, PackageHoldsState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.plans.driver_holds import Holding, holding

FREE = PackageHoldsState(())
APT = HoldToolsState(("apt-mark", "unattended-upgrade"))
PLUGIN = "/usr/lib/python3.9/site-packages/dnf-plugins/versionlock.py"


def dpkg(*names: str, status: str = "ii") -> NvidiaPackagesState:
    packages = tuple(Package("dpkg", name, "550.107.02-1", status) for name in names)
    return NvidiaPackagesState(packages, None, None)


def rpm(*names: str) -> NvidiaPackagesState:
    packages = tuple(Package("rpm", name, "3:550.90.07-1.el9", "installed") for name in names)
    return NvidiaPackagesState(None, packages, None)


def test_fabric_manager_goes_with_the_driver_and_tools_do_not() -> None:
    packages = dpkg(
        "libnvidia-compute-550:amd64",
        "libnvidia-compute-550:i386",
        "nvidia-fabricmanager-550",
        "nvidia-container-toolkit",
        "nvidia-settings",
    )
    assert [name for _, name in holding(packages, FREE, APT, "packages").add] == [
        "libnvidia-compute-550:amd64",
        "libnvidia-compute-550:i386",
        "nvidia-fabricmanager-550",
    ]


def test_a_toolkit_that_is_held_in_part_is_held_whole() -> None:
    packages = dpkg("nvidia-container-toolkit", "libnvidia-container1", "libnvidia-compute-550")
    holds = PackageHoldsState((Hold("nvidia-container-toolkit", "dpkg hold"),))
    assert holding(packages, holds, APT, "packages").add == (
        ("apt-mark", "libnvidia-compute-550"),
        ("apt-mark", "libnvidia-container1"),
    )


LOCKS: dict[str, tuple[HoldToolsState, str | None]] = {
    "RHEL 9": (HoldToolsState(("dnf", "yum"), (PLUGIN,)), "dnf"),
    "RHEL 9 without the plugin": (HoldToolsState(("dnf", "yum")), None),
    "Fedora 42": (HoldToolsState(("dnf", "dnf5")), "dnf5"),
    "CentOS 7": (HoldToolsState(("yum",), ("/usr/lib/yum-plugins/versionlock.py",)), "yum"),
    "SLES 15": (HoldToolsState(("zypper",)), "zypper"),
    "rpm alone": (HoldToolsState(()), None),
}


@pytest.mark.parametrize("system", LOCKS)
def test_rpm_packages_are_locked_by_the_systems_own_program(system: str) -> None:
    means, tool = LOCKS[system]
    made = holding(rpm("nvidia-driver-cuda-libs"), FREE, means, "packages")
    if tool:
        assert made.add == ((tool, "nvidia-driver-cuda-libs"),)
        assert made.refusals == ()
    else:
        (refusal,) = made.refusals
        assert refusal.subject == "package manager"
        assert "hold_driver = 'leave'" in str(refusal)


def test_the_missing_plugin_is_named_and_not_installed() -> None:
    (refusal,) = holding(
        rpm("kmod-nvidia-open-dkms"), FREE, HoldToolsState(("dnf",)), "packages"
    ).refusals
    assert "dnf install 'dnf-command(versionlock)'" in refusal.instead


def test_the_blacklist_stands_in_for_holds() -> None:
    means = HoldToolsState(APT.tools, held=(("apt-mark", "nvidia-dkms-550"),))
    made = holding(dpkg("nvidia-dkms-550", "libnvidia-gl-550:i386"), FREE, means, "blacklist")
    assert made == Holding(
        drop=(("apt-mark", "nvidia-dkms-550"),),
        blacklist=("libnvidia-gl-550$", "nvidia-dkms-550$"),
    )
    again = HoldToolsState(APT.tools, blacklist=made.blacklist)
    assert holding(dpkg("nvidia-dkms-550", "libnvidia-gl-550:i386"), FREE, again, "blacklist") == (
        Holding()
    )


def test_holds_take_the_blacklists_place_again() -> None:
    means = HoldToolsState(APT.tools, blacklist=("nvidia-dkms-550$",))
    made = holding(dpkg("nvidia-dkms-550"), FREE, means, "packages")
    assert made.blacklist == ()


def test_only_what_we_hold_is_released() -> None:
    means = HoldToolsState(APT.tools, held=(("apt-mark", "nvidia-dkms-550"),))
    holds = PackageHoldsState(
        (Hold("nvidia-dkms-550", "dpkg hold"), Hold("cuda-drivers", "dpkg hold"))
    )
    made = holding(dpkg("nvidia-dkms-550", "cuda-drivers"), holds, means, "release")
    assert made == Holding(drop=(("apt-mark", "nvidia-dkms-550"),))


NOTES: dict[str, tuple[NvidiaPackagesState, HoldToolsState, str]] = {
    "Arch": (NvidiaPackagesState(None, None, ()), HoldToolsState(("pacman",)), "IgnorePkg"),
    ".run file": (NvidiaPackagesState((), None, None), APT, "there is nothing to hold"),
    "ready-made modules": (
        dpkg("linux-modules-nvidia-550-generic"),
        APT,
        "a newer kernel boots without it",
    ),
}


@pytest.mark.parametrize("case", NOTES)
def test_what_is_told_and_not_done(case: str) -> None:
    packages, means, words = NOTES[case]
    assert words in " ".join(holding(packages, FREE, means, "packages").notes)


REFUSED: dict[str, tuple[Any, Any, Any, str, str]] = {
    "half installed": (
        dpkg("nvidia-dkms-550", status="iF"),
        FREE,
        APT,
        "packages",
        "dpkg: saw half installed: nvidia-dkms-550, want the update ended; dpkg --configure -a",
    ),
    "half installed, held": (
        dpkg("nvidia-dkms-550", status="hU"),
        FREE,
        APT,
        "packages",
        "half installed",
    ),
    "packages unread": (Unknown("dpkg: timed out"), FREE, APT, "packages", "dpkg: timed out"),
    "rpm unread": (
        NvidiaPackagesState((), Unknown("rpm: timed out"), None),
        FREE,
        APT,
        "packages",
        "rpm: timed out",
    ),
    "holds unread": (
        dpkg("nvidia-dkms-550"),
        PackageHoldsState((), (Unknown("/etc/zypp/locks: Permission denied"),)),
        APT,
        "packages",
        "/etc/zypp/locks: Permission denied",
    ),
    "means unread": (dpkg(), FREE, Unknown("not allowed to look"), "release", "not allowed"),
    "blacklist without unattended-upgrades": (
        dpkg("nvidia-dkms-550"),
        FREE,
        HoldToolsState(("apt-mark",)),
        "blacklist",
        "unattended-upgrades: saw not on this node",
    ),
    "blacklist of rpm packages": (
        rpm("nvidia-driver"),
        FREE,
        HoldToolsState(("dnf",)),
        "blacklist",
        "hold_driver: saw blacklist, and a driver of rpm packages",
    ),
    "no apt": (
        dpkg("nvidia-dkms-550"),
        FREE,
        HoldToolsState(()),
        "packages",
        "apt-mark: saw not on",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    packages, holds, means, way, words = REFUSED[case]
    made = holding(packages, holds, means, way)
    assert (made.drop, made.blacklist) == ((), None)
    assert any(words in str(refusal) for refusal in made.refusals), made.refusals


def test_left_as_it_is() -> None:
    assert holding(Unknown("x"), Unknown("x"), Unknown("x"), "leave") == Holding()
