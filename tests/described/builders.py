"""How NVIDIA's driver came onto a described node: its packages, its holds, what dkms says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.described import system

_BUILDERS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("builders.yaml").read_text()
)

_NONE = "dpkg-query: no packages found matching *nvidia*\n"


def names() -> tuple[str, ...]:
    """Every way that is known here."""
    return tuple(_BUILDERS)


def module(builder: str, kernel: str, version: str) -> str:
    """The module's file for a kernel."""
    path = _BUILDERS[builder]["module"].format(b=_branch(version))
    return f"/lib/modules/{kernel}/{path}"


def library(builder: str) -> str:
    """The directory of libnvidia-ml."""
    return str(_BUILDERS[builder]["lib"])


def answers(said: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the package managers say of the driver, ``held`` or not; ``dkms`` is dkms' own version
    of the module where it is another, and ``None`` where it has not built it."""
    builder = _BUILDERS[said["builder"]]
    manager, version = builder.get("manager"), said["version"]
    kernel = system.release(node)
    rows = [
        name.format(b=_branch(version), v=version, k=kernel, f=kernel.rpartition("-")[2])
        for name in builder.get("packages", ())
    ]
    found: dict[str, dict[str, Any]] = {
        "nvidia_packages.dpkg": {"rc": 127},
        "nvidia_packages.rpm": {"rc": 127},
        "nvidia_packages.dkms": _dkms(said, kernel) if builder.get("dkms") else {"rc": 127},
        "package_holds.files": {"rc": 2},
    }
    if manager == "rpm":
        lines = "".join(f"{name}|3:{version}-1\n" for name in rows)
        found["nvidia_packages.rpm"] = {"out": f"{lines}rpm|(none):4.16.1-1\n"}
        found["package_holds.files"] = _locks(rows, version, node) if said["held"] else {"rc": 2}
    elif system.dpkg(node):
        status = "hi" if said["held"] else "ii"
        lines = "".join(f"{status} |{name}|{version}-0ubuntu1\n" for name in rows)
        found["nvidia_packages.dpkg"] = {"out": lines} if rows else {"rc": 1, "err": _NONE}
    return found


def _branch(version: str) -> str:
    return version.partition(".")[0]


def _dkms(said: Mapping[str, Any], kernel: str) -> dict[str, Any]:
    version = said.get("dkms", said["version"])
    if version is None:
        return {"out": f"nvidia/{said['version']}: added\n"}
    return {"out": f"nvidia/{version}, {kernel}, x86_64: installed\n"}


def _locks(rows: list[str], version: str, node: Mapping[str, Any]) -> dict[str, Any]:
    if system.identity(node) in ("sles", "opensuse-leap"):
        lock = "type: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: nvidia-*G06*\n"
        return {"rc": 2, "out": "".join(f"/etc/zypp/locks:{x}\n" for x in lock.splitlines())}
    path = "/etc/dnf/plugins/versionlock.list"
    return {"rc": 2, "out": "".join(f"{path}:{name}-3:{version}-1.*\n" for name in rows)}
