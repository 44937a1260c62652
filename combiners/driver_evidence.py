"""The lines of a node that show its driver versions."""

from __future__ import annotations

from pyinfra_nvml.facts.nvidia_driver import NvidiaDriverState
from pyinfra_nvml.facts.nvidia_log import ApiMismatch
from pyinfra_nvml.model.unknown import Unknown


def told(version: str | Unknown | None) -> str:
    """A version as a word: ``none`` there is none, ``unknown`` could not be told."""
    return "unknown" if isinstance(version, Unknown) else version or "none"


def evidence(driver: NvidiaDriverState) -> tuple[str, ...]:
    """The lines of the node that show the versions."""
    lines = []
    module, libraries = driver.module, driver.libraries
    if not isinstance(module, Unknown):
        lines.append(f"/sys/module/nvidia/version: {told(module.loaded or 'not there')}")
        disk = () if isinstance(module.disk, Unknown) else module.disk
        lines += [f"{kernel.path}: {told(kernel.version)}" for kernel in disk if kernel.path]
    if not isinstance(libraries, Unknown) and libraries.resolved:
        lines.append(f"{libraries.resolved.path} -> {libraries.resolved.target}")
    lines += _unfinished(driver)
    if not isinstance(driver.log, Unknown):
        lines += [mismatch_line(mismatch) for mismatch in driver.log.mismatches[-1:]]
    return tuple(lines)


def _unfinished(driver: NvidiaDriverState) -> list[str]:
    """Packages that an update left half done, and modules that dkms has not installed."""
    packages = () if isinstance(driver.packages, Unknown) else driver.packages.known
    return [
        f"{package.manager}: {package.name} {package.version}"
        f"{f' for {package.kernel}' if package.kernel else ''}: {package.status}"
        for package in packages
        # dpkg(1): the second letter is the state, i is installed.
        if (package.manager == "dpkg" and package.status[1:2] != "i")
        or (package.manager == "dkms" and not package.status.startswith("installed"))
    ]


def mismatch_line(mismatch: ApiMismatch) -> str:
    """A refused client, as the kernel's log has it."""
    client = f" '{mismatch.client}' (pid {mismatch.pid})" if mismatch.client else ""
    return f"NVRM: API mismatch: client{client} {mismatch.library}, module {mismatch.module}"
