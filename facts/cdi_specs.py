"""The CDI specs of NVIDIA's devices on this node, as its engines find them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyinfra_nvml.facts.probe import Probe
from pyinfra_nvml.model.unknown import Unknown, Value

# A spec can be long (a stanza per MIG instance): only its kind, its version, the libraries'
# versions, the nodes of MIG instances and the directories of Windows' driver store are read.
_PIECES = (
    r'"?kind"?: *"?[A-Za-z0-9._-]*nvidia\.com/[A-Za-z0-9_-]+',
    r'"?cdiVersion"?: *"?[0-9.]+',
    r"lib(nvidia-ml|cuda)\.so\.[0-9]+\.[0-9.]*[0-9]",
    r"nvidia-cap[0-9]+",
    r"/usr/lib/wsl/drivers/[A-Za-z0-9._-]+",
)

PROBE = Probe(
    "container_toolkit.specs",
    f"grep -HoE '{'|'.join(_PIECES)}' /etc/cdi/* /var/run/cdi/* /dev/null",
)


@dataclass(frozen=True)
class CdiSpec(Value):
    """A CDI spec of NVIDIA's.

    ``driver`` is the driver version in the libraries it names, ``version`` its ``cdiVersion``,
    ``capabilities`` the minors of the /dev/nvidia-caps nodes it gives (MIG instances). On WSL2 the
    libraries have no version, and ``stores`` are the directories of Windows' driver store instead.

    .. code:: python

        CdiSpec("/var/run/cdi/nvidia.yaml", kind="nvidia.com/gpu", driver="580.95.05",
                version="0.5.0", capabilities=(12, 13))
    """

    path: str
    kind: str | Unknown | None
    driver: str | Unknown | None
    version: str | Unknown | None = None
    capabilities: tuple[int, ...] | Unknown = ()
    stores: tuple[str, ...] = ()


def specs(texts: dict[str, str | Unknown] | Unknown) -> tuple[CdiSpec, ...] | Unknown:
    """The specs in these files; engines read those that end in .yaml or .json and no others
    (container-device-interface, pkg/cdi/spec-dirs.go)."""
    if isinstance(texts, Unknown):
        return texts
    read = (item for item in sorted(texts.items()) if item[0].endswith((".yaml", ".json")))
    return tuple(_spec(path, text) for path, text in read)


def _spec(path: str, text: str | Unknown) -> CdiSpec:
    if isinstance(text, Unknown):
        return CdiSpec(path, text, text, text, text)
    kind = re.search(r"([A-Za-z0-9._-]*nvidia\.com/[\w-]+)", text)
    version = re.search(r"cdiVersion\D*([\d.]+)", text)
    nodes = re.findall(r"^nvidia-cap(\d{1,9})$", text, re.MULTILINE)
    stores = re.findall(r"^/usr/lib/wsl/drivers/(\S+)$", text, re.MULTILINE)
    return CdiSpec(
        path,
        kind[1] if kind else None,
        _driver(path, text),
        version[1] if version else None,
        tuple(sorted({int(minor) for minor in nodes})),
        tuple(dict.fromkeys(stores)),
    )


def _driver(path: str, text: str) -> str | Unknown | None:
    """The one version of the libraries; what was put together by hand may name two."""
    named = list(dict.fromkeys(re.findall(r"\.so\.(\d+(?:\.\d+)+)", text)))
    # Jetson's libcuda.so.1.1 has no driver's version; those have three digits.
    drivers = [version for version in named if re.match(r"\d{3}", version)]
    if len(drivers) > 1:
        return Unknown(
            f"{path} names libraries of {' and '.join(drivers)}, want those of one driver"
        )
    return named[0] if named else None
