"""Multi-Instance GPU on this node: which GPUs are split, and who may see across the instances."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts import nvidia_smi
from pyinfra_nvml.facts.nvidia_devices import DeviceNode, NvidiaDevices
from pyinfra_nvml.facts.nvidia_params import PROBE
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    file_texts,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# The minors of MIG's own rights: config 1, monitor 2 (NVIDIA/open-gpu-kernel-modules, nv-caps.c).
CONFIG_NODE = "/dev/nvidia-caps/nvidia-cap1"
MONITOR_NODE = "/dev/nvidia-caps/nvidia-cap2"

_CAPABILITIES = "/proc/driver/nvidia/capabilities/"

_MODES = nvidia_smi.query("--query-gpu=index,mig.mode.current,mig.mode.pending")

_MODE = re.compile(r"^(\d{1,9}), (\[?[A-Za-z/ ]+\]?), (\[?[A-Za-z/ ]+\]?)$", re.MULTILINE)


@dataclass(frozen=True)
class MigMode(Value):
    """One GPU's mode now and after its next reset, in nvidia-smi's words.

    ``Enabled``, ``Disabled``, ``[N/A]`` (or, from older tools, ``[Not Supported]``).

    .. code:: python

        MigMode(gpu=0, current="Enabled", pending="Enabled")
    """

    gpu: int
    current: str
    pending: str


@dataclass(frozen=True)
class Capability(Value):
    """A capability file: path below /proc/driver/nvidia/capabilities, minor and mode of its node.

    ``mode`` is a number: 292 is 0444, 256 is 0400. ``None``: the file has no such line.

    .. code:: python

        Capability("mig/monitor", minor=2, mode=0o444)
    """

    path: str
    minor: int | Unknown | None
    mode: int | Unknown | None


@dataclass(frozen=True)
class MigState(Value):
    """MIG: the modes, the capability files, and the nodes of /dev/nvidia-caps.

    .. code:: python

        MigState(modes=(MigMode(0, "Enabled", "Enabled"),),
                 capabilities=(Capability("mig/monitor", 2, 0o444),
                               Capability("gpu0/mig/gi1/access", 12, 0o444)),
                 nodes=(DeviceNode("/dev/nvidia-caps/nvidia-cap2", "444", 0, 0, 237, 2),))
    """

    modes: tuple[MigMode, ...] | Unknown
    capabilities: tuple[Capability, ...] | Unknown
    nodes: tuple[DeviceNode, ...] | Unknown

    @property
    def instances(self) -> tuple[str, ...]:
        """The GPU instances: ``gpu0/mig/gi1``; the number is the GPU's device minor."""
        known = () if isinstance(self.capabilities, Unknown) else self.capabilities
        found = (re.fullmatch(r"(gpu\d+/mig/gi\d+)/access", one.path) for one in known)
        return tuple(match[1] for match in found if match)

    @property
    def on(self) -> bool | Unknown:
        """Whether a GPU of this node is split, or may be: an instance, or a mode that says so.

        No instance proves nothing: MIG can be on with none made yet.
        """
        if self.instances:
            return True
        if isinstance(self.modes, Unknown):
            return self.modes
        return any(mode.current == "Enabled" for mode in self.modes)


class Mig(Source[MigState | None]):
    """MIG on this node, or ``None`` where no nvidia module is loaded.

    Sources: nvidia-smi(1) (columns ``mig.mode.current``, ``mig.mode.pending``),
    /proc/driver/nvidia/capabilities, /dev/nvidia-caps (NVIDIA, MIG user guide, "Device Nodes and
    Capabilities"). The directory gpuN/mig is there with MIG off too, and mig-minors lists every
    instance that could ever be: neither is looked at. Needs no root.
    """

    probes = (Probe("mig.modes", _MODES), PROBE, *NvidiaDevices.probes)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> MigState | Unknown | None:
        asked = section(sections, "mig.modes")
        if not asked.trouble and asked.out.strip() == nvidia_smi.ABSENT:
            return None
        devices = NvidiaDevices.judged(sections)
        return MigState(
            modes=_modes(asked),
            capabilities=_capabilities(file_texts(section(sections, PROBE.name))),
            nodes=devices if isinstance(devices, Unknown) else _caps(devices.nodes),
        )


def _modes(answer: Section) -> tuple[MigMode, ...] | Unknown:
    if "is not a valid field to query" in answer.out:
        return ()  # drivers before 450 know no MIG
    if answer.trouble:
        # NVML's own complaints come on standard output, with an exit code from 1 to 18 or so.
        said = answer.out.strip().splitlines() if answer.rc in range(1, 100) else []
        return Unknown(f"nvidia-smi: {said[0][:200]}") if said else answer.trouble
    lines = [line.strip() for line in answer.out.splitlines() if line.strip()]
    found = [_MODE.match(line) for line in lines]
    if not lines or not all(found):
        return Unknown("nvidia-smi: its answer on MIG modes was not understood")
    return tuple(MigMode(int(match[1]), match[2], match[3]) for match in found if match)


def _capabilities(texts: dict[str, str | Unknown] | Unknown) -> tuple[Capability, ...] | Unknown:
    if isinstance(texts, Unknown):
        return texts
    paths = sorted(path for path in texts if path.startswith(_CAPABILITIES))
    return tuple(_capability(path, texts[path]) for path in paths)


def _capability(path: str, text: str | Unknown) -> Capability:
    if isinstance(text, Unknown):
        return Capability(path[len(_CAPABILITIES) :], text, text)
    minor = re.search(r"^DeviceFileMinor: (\d{1,9})$", text, re.MULTILINE)
    mode = re.search(r"^DeviceFileMode: (\d{1,9})$", text, re.MULTILINE)
    return Capability(
        path[len(_CAPABILITIES) :],
        int(minor[1]) if minor else None,
        int(mode[1]) if mode else None,
    )


def _caps(nodes: tuple[DeviceNode, ...]) -> tuple[DeviceNode, ...]:
    return tuple(node for node in nodes if node.path.startswith("/dev/nvidia-caps/"))
