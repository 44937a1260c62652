"""The processes that compute on this node's GPUs now."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts import nvidia_smi
from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value


@dataclass(frozen=True)
class GpuProcess(Value):
    """One compute process: its id on the node, its program.

    .. code:: python

        GpuProcess(4242, "/usr/bin/python3")
    """

    pid: int
    program: str


@dataclass(frozen=True)
class GpuProcessesState(Value):
    """All of them, in the order of nvidia-smi."""

    processes: tuple[GpuProcess, ...]


class GpuProcesses(Source[GpuProcessesState | None]):
    """What computes on the GPUs, or ``None`` where the node has no nvidia module or nvidia-smi.

    Source: ``nvidia-smi --query-compute-apps=pid,process_name`` (nvidia-smi(1), csv). Needs no
    root; in a container it shows nothing of the others.
    """

    probes = (
        Probe(
            "gpu_processes.compute",
            nvidia_smi.query("--query-compute-apps=pid,process_name"),
            lines=rf"\d{{1,9}}, |{nvidia_smi.ABSENT}$",
        ),
    )

    @override
    @classmethod
    def parse(cls, sections: Sections) -> GpuProcessesState | Unknown | None:
        answer = section(sections, "gpu_processes.compute")
        if answer.rc == 127 or answer.out.strip() == nvidia_smi.ABSENT:
            return None
        if answer.trouble:
            # nvidia-smi says on standard output what it complains of (exit codes of NVML, up to 18
            # or so, and 255).
            said = answer.out.strip().partition("\n")[0][:200]
            complaint = said and answer.rc in (*range(1, 100), 255)
            told = f"{answer.name}: exit {answer.rc}: {said}"
            return Unknown(told) if complaint else answer.trouble
        rows = (re.match(r"(\d{1,9}), (.*)$", line) for line in answer.out.splitlines())
        return GpuProcessesState(
            tuple(GpuProcess(int(row[1]), row[2].strip()) for row in rows if row)
        )


Work = GpuProcesses  # the name before 0.2
