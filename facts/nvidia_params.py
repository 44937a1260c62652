"""How NVIDIA's kernel module of this node was told to behave: its parameters as it took them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import (
    Sections,
    file_texts,
    framed_files,
    number,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

_PARAMS = "/proc/driver/nvidia/params"
_UVM = "/sys/module/nvidia_uvm/initstate"
_MAJORS = "/proc/devices"

# The files of the module under /proc, read at once for this fact and for pyinfra_nvml.facts.mig.
PROBE = framed_files(
    "nvidia_params.files",
    _PARAMS,
    "/proc/driver/nvidia/capabilities/mig/*",
    "/proc/driver/nvidia/capabilities/gpu*/mig/gi*/access",
    "/proc/driver/nvidia/capabilities/gpu*/mig/gi*/ci*/access",
    _UVM,
    _MAJORS,
)


@dataclass(frozen=True)
class NvidiaParamsState(Value):
    """The parameters, by the names of the file: those of modprobe without ``NVreg_``.

    Numbers are decimal there: ``DeviceFileMode: 438`` is 0666. ``uvm`` is whether nvidia_uvm is
    loaded beside it, ``uvm_major`` the number that the kernel gave it (another at each boot).

    .. code:: python

        NvidiaParamsState({"ModifyDeviceFiles": "1", "DeviceFileUID": "0", "DeviceFileMode": "438"},
                          uvm=True, uvm_major=509)
    """

    values: dict[str, str]
    uvm: bool | Unknown = False
    uvm_major: int | None = None

    def number(self, name: str) -> int | None:
        """A parameter that is a number; ``None`` where this driver does not name it so."""
        return number(self.values.get(name, ""))


class NvidiaParams(Source[NvidiaParamsState | None]):
    """The parameters of the loaded nvidia module, or ``None`` where none is loaded.

    Source: /proc/driver/nvidia/params (NVIDIA/open-gpu-kernel-modules, kernel-open/nvidia
    nv-procfs.c), /sys/module, /proc/devices. Needs no
    root.
    """

    probes = (PROBE,)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaParamsState | Unknown | None:
        texts = file_texts(section(sections, PROBE.name))
        text = texts if isinstance(texts, Unknown) else texts.get(_PARAMS)
        if text is None or isinstance(text, Unknown):
            return text
        pairs = (line.partition(": ") for line in text.splitlines())
        values = {name: value.strip() for name, colon, value in pairs if colon and name.isalnum()}
        if not values or isinstance(texts, Unknown):
            return Unknown(f"{_PARAMS}: no NAME: VALUE in it")
        loaded, majors = texts.get(_UVM), texts.get(_MAJORS)
        listed = majors if isinstance(majors, str) else ""
        major = re.search(r"^ *(\d{1,6}) nvidia-uvm$", listed, re.MULTILINE)
        return NvidiaParamsState(
            values,
            uvm=loaded if isinstance(loaded, Unknown) else loaded == "live",
            uvm_major=int(major[1]) if major else None,
        )


Params = NvidiaParams  # the name before 0.2
