"""Whether this node is Windows' Linux, and what it shows of the GPU there."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Probe,
    Sections,
    file_texts,
    framed_files,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

_DXG = "/dev/dxg"
_RUN = "/run/WSL"
_LIBRARIES = "/usr/lib/wsl/lib/"
_STORES = "/usr/lib/wsl/drivers/"

# Windows' whole driver store is under drivers/; NVIDIA's are nv_dispi.inf_amd64_HASH and the like.
_PATHS = f"""
for path in {_DXG} {_RUN} {_LIBRARIES}* {_STORES}nv*; do
  [ -e "$path" ] || [ -L "$path" ] && printf '%s\\n' "$path"
done
true
"""


@dataclass(frozen=True)
class WslState(Value):
    """The Windows Subsystem for Linux: version 1 or 2 and its traces.

    ``dxg`` is /dev/dxg, the GPU of WSL2. ``session`` is /run/WSL: true in a distribution itself,
    false in a container that only shares its kernel. ``libraries`` are the files that Windows puts
    under /usr/lib/wsl/lib, ``stores`` NVIDIA's directories of Windows' driver store, which an
    update of the driver there replaces. ``conf`` is /etc/wsl.conf.

    .. code:: python

        WslState(version=2, kernel="5.15.153.1-microsoft-standard-WSL2", dxg=True, session=True,
                 libraries=("libcuda.so.1", "libnvidia-ml.so.1"), conf="[boot]\\nsystemd=true")
    """

    version: int
    kernel: str
    dxg: bool
    session: bool
    libraries: tuple[str, ...]
    conf: str | Unknown | None
    stores: tuple[str, ...] = ()


class Wsl(Source[WslState | None]):
    """The WSL that this node is, or ``None``.

    By the kernel's release, as systemd does it (src/basic/virt.c: ``Microsoft`` or ``WSL`` in
    osrelease, case counts); a kernel of one's own may lack both, then by /run/WSL and /dev/dxg.
    WSL_DISTRO_NAME is not seen over SSH. Needs no root.
    """

    probes = (
        framed_files("wsl.files", "/proc/sys/kernel/osrelease", "/etc/wsl.conf"),
        Probe("wsl.paths", _PATHS, lines=r"/"),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> WslState | Unknown | None:
        texts = file_texts(section(sections, "wsl.files"))
        paths = section(sections, "wsl.paths")
        if isinstance(texts, Unknown):
            return texts
        kernel = texts.get("/proc/sys/kernel/osrelease", "")
        if isinstance(kernel, Unknown) or not kernel:
            return kernel or Unknown("/proc/sys/kernel/osrelease: not there")
        named = "Microsoft" in kernel or "WSL" in kernel
        if paths.trouble:
            return paths.trouble
        there = paths.out.splitlines()
        if not named and not (_DXG in there and _RUN in there):
            return None
        return WslState(
            # WSL1 has no kernel of its own: 4.4.0-19041-Microsoft.
            version=1 if kernel.endswith("-Microsoft") and _DXG not in there else 2,
            kernel=kernel,
            dxg=_DXG in there,
            session=_RUN in there,
            libraries=tuple(p[len(_LIBRARIES) :] for p in there if p.startswith(_LIBRARIES)),
            conf=texts.get("/etc/wsl.conf"),
            stores=tuple(p[len(_STORES) :] for p in there if p.startswith(_STORES)),
        )
