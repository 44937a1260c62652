"""NVIDIA's driver on a described node: module in memory and on disk, library, packages, GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.described import builders, system

_LIB = "/usr/lib/x86_64-linux-gnu"


def answers(said: Mapping[str, Any] | None, node: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``version`` is the driver's; ``loaded``, ``disk`` (or kernel to version) and ``library``
    differ from it, ``None`` is not there. ``held`` packages, ``gpus`` (PCI driver of each),
    ``log`` (lines of the kernel's log), ``packages`` (raw rows of dpkg), ``builder`` (one of
    builders.yaml: who brought it), ``mig`` (instances of GPU 0). ``None``: no driver."""
    if said is None:
        said = {"version": None, "packages": "", "nodes": False, "gpus": []}
    if numbers := [key for key, value in said.items() if isinstance(value, float)]:
        raise TypeError(f"case: saw a number as {numbers}, want a text (550.100 is not 550.1)")
    version = said["version"]
    loaded = said.get("loaded", version)
    library = said.get("library", version)
    disk = said.get("disk", version)
    kernels = disk if isinstance(disk, Mapping) else {system.release(node): disk}
    words = "Open Kernel Module for x86_64" if said.get("open") else "x86_64 Kernel Module"
    found: dict[str, dict[str, Any]] = {
        "nvidia_module.loaded": {"rc": 2}
        if loaded is None
        else {
            "out": f"/sys/module/nvidia/version:{loaded}\n/proc/driver/nvidia/version:NVRM version:"
            f" NVIDIA UNIX {words}  {loaded}  Tue Sep 23 09:55:41 UTC 2025\n"
        },
        "nvidia_module.disk": {"out": _disk(said, kernels, node)},
        "nvidia_library.files": {"out": _library(said, library)},
        "nvidia_devices.list": {"out": _devices(said, loaded)},
        "nvidia_log.lines": {"out": said.get("log", "")},
        **_packages(said, version, node),
        "mig.modes": {"out": "absent\n"} if loaded is None else _modes(loaded, library),
    }
    if loaded is None:
        found["nvidia_params.files"] = {"rc": 2, "out": "/proc/devices:  1 mem\n"}
        found["gpu_processes.compute"] = {"rc": 127}
    elif loaded != library:
        found["gpu_processes.compute"] = _mismatch(library)
    if said.get("mig") and loaded is not None:
        found["nvidia_params.files"] = {"rc": 2, "out": _capabilities(said["mig"])}
        if loaded == library:
            found["mig.modes"] = {"out": "0, Enabled, Enabled\n"}
    return found


def _capabilities(instances: int) -> str:
    """The capability files of GPU 0's instances; their minors count on (nv-caps.c)."""
    files = {"mig/config": (1, 256), "mig/monitor": (2, 292)}
    for number in range(1, instances + 1):
        path, minor = f"gpu0/mig/gi{number}", 3 + 9 * number
        files |= {f"{path}/access": (minor, 292), f"{path}/ci0/access": (minor + 1, 292)}
    lines = ["/proc/driver/nvidia/params:ModifyDeviceFiles: 1"]
    lines += ["/proc/driver/nvidia/params:DeviceFileMode: 438"]
    for path, (minor, mode) in files.items():
        file = f"/proc/driver/nvidia/capabilities/{path}"
        lines += [f"{file}:DeviceFileMinor: {minor}", f"{file}:DeviceFileMode: {mode}"]
    lines += ["/sys/module/nvidia_uvm/initstate:live"]
    lines += ["/proc/devices:195 nvidia", "/proc/devices:509 nvidia-uvm"]
    return "\n".join(lines) + "\n"


def _disk(
    said: Mapping[str, Any], kernels: Mapping[str, str | None], node: Mapping[str, Any]
) -> str:
    lines = [f"running {system.release(node)}", "asked"]
    for kernel, version in kernels.items():
        lines += [f"kernel {kernel}", "image"]
        if version:
            builder = said.get("builder")
            path = f"/lib/modules/{kernel}/updates/dkms/nvidia.ko"
            path = builders.module(builder, kernel, version) if builder else path
            lines += [f"module {path}", f"version {version}"]
    return "\n".join(lines) + "\n"


def _library(said: Mapping[str, Any], version: str | None) -> str:
    lines = ["machine x86_64"]
    if version == "wsl":
        path = "/usr/lib/wsl/lib/libnvidia-ml.so.1"
        lines += [f"cache libnvidia-ml.so.1 (libc6,x86-64) => {path}", f"file {path} {path} "]
    elif version:
        place = builders.library(said["builder"]) if "builder" in said else _LIB
        link = "/lib/x86_64-linux-gnu" if place == _LIB else place
        target = f"{place}/libnvidia-ml.so.{version}"
        lines += [
            f"cache libnvidia-ml.so.1 (libc6,x86-64) => {link}/libnvidia-ml.so.1",
            f"file {link}/libnvidia-ml.so.1 {target} ",
            f"file {target} {target} ",
        ]
    lines += [f"file {path} {path} " for path in said.get("copies", ())]
    return "\n".join(lines) + "\n"


def _devices(said: Mapping[str, Any], loaded: str | None) -> str:
    lines = []
    if said.get("nodes", loaded is not None):
        lines += ["node 666 0 0 c3 ff /dev/nvidiactl", "node 666 0 0 c3 0 /dev/nvidia0"]
        lines += ["node 666 0 0 1fd 0 /dev/nvidia-uvm"]
    lines.append("bus")
    gpus = said.get("gpus", ["nvidia" if loaded else ""])
    lines += [f"pci 0000:{0x1B + n:02x}:00.0 0x030200 0x20b2  {gpu}" for n, gpu in enumerate(gpus)]
    lines += [
        f"pci 0000:{0x80 + n:02x}:00.0 0x068000 0x22a3  nvidia"
        for n in range(said.get("switches", 0))
    ]
    return "\n".join(lines) + "\n"


def _packages(
    said: Mapping[str, Any], version: str | None, node: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    if "builder" in said:
        return builders.answers({"held": True, **said}, node)
    if "packages" in said:
        return {"nvidia_packages.dpkg": {"out": said["packages"]}}
    held, branch = said.get("held", True), str(version).partition(".")[0]
    if system.dpkg(node):
        names = (
            f"libnvidia-compute-{branch}:amd64",
            f"nvidia-dkms-{branch}",
            f"nvidia-utils-{branch}",
        )
        status = "hi" if held else "ii"
        rows = "".join(f"{status} |{name}|{version}-0ubuntu1\n" for name in names)
        return {"nvidia_packages.dpkg": {"out": rows}}
    names = ("kmod-nvidia-latest-dkms", "nvidia-driver-cuda-libs", "nvidia-driver-NVML")
    rows = "".join(f"{name}|3:{version}-1\n" for name in names)
    locks = "".join(f"/etc/dnf/plugins/versionlock.list:{name}-3:{version}-1.*\n" for name in names)
    return {
        "nvidia_packages.dpkg": {"rc": 127},
        "nvidia_packages.rpm": {"out": rows},
        "package_holds.files": {"rc": 2, "out": locks if held else ""},
    }


def _modes(loaded: str, library: str | None) -> dict[str, Any]:
    return {"out": "0, Disabled, Disabled\n"} if loaded == library else _mismatch(library)


def _mismatch(library: str | None) -> dict[str, Any]:
    short = ".".join(str(library).split(".")[:2])
    return {
        "rc": 18,
        "out": "Failed to initialize NVML: Driver/library version mismatch\n"
        f"NVML library version: {short}\n",
    }
