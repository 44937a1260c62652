"""NVIDIA's container toolkit on this node: its programs, its settings, its CDI specs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts import cdi_specs
from pyinfra_nvml.facts.cdi_specs import CdiSpec
from pyinfra_nvml.facts.probe import (
    Probe,
    Section,
    Sections,
    file_texts,
    framed_files,
    section,
)
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.facts.toolkit_config import CONFIGS, ToolkitConfig, config
from pyinfra_nvml.model.unknown import Unknown, Value

# The GPU Operator's toolkit container installs under /usr/local/nvidia/toolkit.
_OPERATOR = "/usr/local/nvidia/toolkit"

_PROGRAMS = f"""
for name in nvidia-container-runtime-hook nvidia-container-runtime nvidia-cdi-hook nvidia-ctk \
  nvidia-container-cli; do
  command -v $name >/dev/null && echo "on-path $name $(command -v $name)"
  [ -x {_OPERATOR}/$name ] && echo "operator $name {_OPERATOR}/$name"
done
family=
[ ! -r /sys/devices/soc0/family ] || read -r family </sys/devices/soc0/family
[ -e /etc/nv_tegra_release ] || case $family in [Tt][Ee][Gg][Rr][Aa]*) ;; *) false ;; esac &&
  echo tegra
true
"""

_VERSION = f"nvidia-ctk --version || nvidia-container-cli --version || {_OPERATOR}/nvidia-ctk -v"


@dataclass(frozen=True)
class Program(Value):
    """A program of the toolkit; ``on_path`` is false where only the GPU Operator's own is there.

    .. code:: python

        Program("nvidia-ctk", "/usr/bin/nvidia-ctk", on_path=True)
    """

    name: str
    path: str
    on_path: bool


@dataclass(frozen=True)
class ContainerToolkitState(Value):
    """The toolkit of this node; ``tegra`` is what decides about the runtime's mode ``auto``.

    .. code:: python

        ContainerToolkitState(programs=(Program(...),), version="1.17.8", config=ToolkitConfig(...),
                              specs=(CdiSpec(...),))
    """

    programs: tuple[Program, ...] | Unknown
    version: str | Unknown | None
    config: ToolkitConfig | Unknown | None
    specs: tuple[CdiSpec, ...] | Unknown
    tegra: bool | Unknown = False

    def has(self, name: str) -> bool | Unknown:
        """Whether this program is on the PATH."""
        if isinstance(self.programs, Unknown):
            return self.programs
        return any(program.name == name and program.on_path for program in self.programs)


class ContainerToolkit(Source[ContainerToolkitState | None]):
    """NVIDIA's container toolkit, or ``None`` where the node has no part of it.

    Sources: PATH, ``nvidia-ctk --version``, config.toml (NVIDIA/nvidia-container-toolkit,
    api/config/v1), /etc/cdi and /var/run/cdi (container-device-interface, SPEC.md). Needs no root
    unless a file is kept from users.
    """

    probes = (
        Probe("container_toolkit.programs", _PROGRAMS, lines=r"(on-path|operator) |tegra$"),
        Probe("container_toolkit.version", _VERSION),
        framed_files("container_toolkit.config", *CONFIGS),
        cdi_specs.PROBE,
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> ContainerToolkitState | Unknown | None:
        found = section(sections, "container_toolkit.programs")
        programs = _programs(found)
        toolkit = ContainerToolkitState(
            programs=programs,
            version=_version(section(sections, "container_toolkit.version")),
            config=config(file_texts(section(sections, "container_toolkit.config"))),
            specs=cdi_specs.specs(file_texts(section(sections, cdi_specs.PROBE.name))),
            tegra=found.trouble or "tegra" in found.out.splitlines(),
        )
        if programs or toolkit.config or toolkit.specs:
            return toolkit
        return None


Toolkit = ContainerToolkit  # the name before 0.2


def _programs(answer: Section) -> tuple[Program, ...] | Unknown:
    if answer.trouble:
        return answer.trouble
    lines = re.findall(r"^(on-path|operator) (\S+) (/\S+)$", answer.out, re.MULTILINE)
    return tuple(Program(name, path, where == "on-path") for where, name, path in lines)


def _version(answer: Section) -> str | Unknown | None:
    # "NVIDIA Container Toolkit CLI version 1.17.8", "cli-version: 1.17.8".
    found = re.search(r"version:? (\d+(?:\.\d+)+\S*)", answer.out)
    if found:
        return found[1]
    return None if answer.rc == 127 else answer.trouble or Unknown("nvidia-ctk: no version")
