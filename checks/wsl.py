"""On WSL2 Windows brings the driver, and the distribution has none of its own.

The GPU of WSL2 is /dev/dxg; its library is under /usr/lib/wsl/lib and comes with Windows' driver. A
Linux driver package installed inside puts another libnvidia-ml and libcuda beside or before it.
With Docker Desktop the engine is in another distribution: a daemon.json here changes nothing.

Bad:

    libnvidia-compute-550   installed in the distribution

Good:

    /usr/lib/wsl/lib/libnvidia-ml.so.1   the only one

Repair: by hand: remove the packages (`apt purge`); update the driver on Windows. For hybrid cgroups
see cgroup-hierarchy: `wsl --update` first. `deploys/wsl.py` writes out what to change on the
Windows side.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyinfra_nvml.combiners.driver_packages import driver_packages
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.nvidia_library import NvidiaLibraryState
from pyinfra_nvml.model.finding import Area, Finding, Level, NotApplicable, Outcome, Undetermined
from pyinfra_nvml.model.remedy import Repair
from pyinfra_nvml.model.unknown import Unknown

AREA = Area.DEVICES

_OWN = "/usr/lib/wsl/"


def check(node: NodeState) -> Iterator[Outcome]:
    """Linux driver packages inside WSL, and a daemon.json that no engine reads."""
    wsl = node.wsl
    if wsl is None:
        yield NotApplicable("not the Windows Subsystem for Linux")
    elif isinstance(wsl, Unknown):
        yield Undetermined("WSL", wsl.reason)
    elif wsl.version == 1:
        yield NotApplicable("WSL1 has no GPU and no containers")
    elif not wsl.session:
        yield NotApplicable("a container on WSL2's kernel, not a distribution")
    else:
        yield from _packages(node)
        yield from _engine(node)


def _packages(node: NodeState) -> Iterator[Outcome]:
    driver = node.nvidia_driver
    if driver is None:
        return
    packages = driver if isinstance(driver, Unknown) else driver.packages
    if isinstance(packages, Unknown):
        yield Undetermined("driver packages", packages.reason)
        return
    found = driver_packages(packages.known)
    unread = [part for part in (packages.dpkg, packages.rpm) if isinstance(part, Unknown)]
    if found:
        first = None if isinstance(driver, Unknown) else _taken(driver.libraries)
        yield _finding([f"{package.name} {package.version}" for package in found], first)
    elif unread:
        yield Undetermined("driver packages", unread[0].reason)


def _taken(libraries: NvidiaLibraryState | Unknown) -> str | None:
    """The library that the loader takes, where it is not Windows'."""
    if isinstance(libraries, Unknown) or libraries.resolved is None:
        return None
    target = libraries.resolved.target
    return None if target.startswith(_OWN) else target


def _finding(packages: list[str], taken: str | None) -> Finding:
    return Finding(
        level=Level.BROKEN if taken else Level.AT_RISK,
        subject="driver packages",
        saw=f"Linux driver inside WSL: {packages[0]}"
        + (f" and {len(packages) - 1} more" if len(packages) > 1 else ""),
        want="no driver package; the libraries of Windows' driver under /usr/lib/wsl/lib",
        why=f"the loader takes {taken}, which knows no /dev/dxg: NVML and CUDA fail"
        if taken
        else "the next change of the loader's cache can put its library before Windows' own",
        repair=Repair.MANUAL,
        do="apt purge these packages, then ldconfig; update the driver on Windows",
        avoid="installing a matching Linux driver: there is none for WSL",
        evidence=tuple(packages[:10]),
        reference="https://docs.nvidia.com/cuda/wsl-user-guide/",
    )


def _engine(node: NodeState) -> Iterator[Outcome]:
    info, files = node.engine_info, node.daemon_json
    if isinstance(files, Unknown) or not (isinstance(info, EngineInfo) and info.desktop):
        return
    for file in files.files:
        if isinstance(file.content, bytes) and file.content.strip():
            yield Finding(
                level=Level.ADVICE,
                subject=file.path,
                saw="a configuration, and Docker Desktop's engine in another distribution",
                want="the settings of Docker Desktop on Windows (Settings, Docker Engine)",
                why="no engine reads this file",
                repair=Repair.MANUAL,
                do=f"move what is meant into Docker Desktop's settings and remove {file.path}",
            )
