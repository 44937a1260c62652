"""What NVIDIA's kernel module said in this node's kernel log."""

from __future__ import annotations

import re
from dataclasses import dataclass

from typing_extensions import override

from pyinfra_nvml.facts.probe import Probe, Sections, section
from pyinfra_nvml.facts.source import Source
from pyinfra_nvml.model.unknown import Unknown, Value

# The kernel keeps its log from users (dmesg_restrict): then the journal may have it.
_LINES = r"""
{ dmesg 2>/dev/null || journalctl -k -b --no-pager -o short; } |
  sed -n -e 's/^.*NVRM: //p' -e t -e '/nvidia\/[0-9.]*\/gsp_[a-z0-9_]*[.]bin/p' | tail -n 300
"""

# Two shapes. NVIDIA/open-gpu-kernel-modules, osapi.c: client and pid on the first line, versions
# on the second and third. Before that: "the client has the version 367.44, but" / "this kernel
# module has the version 367.35.  Please". Joined, both read the same.
_MISMATCH = re.compile(
    r"^API mismatch: the client (?:'(?P<client>[^']*)' \(pid (?P<pid>\d{1,10})\) )?has the version "
    r"(?P<library>\d+(?:\.\d+)+), but this kernel module has the version (?P<module>\d+(?:\.\d+)+)"
)


# The probe of a module that finds its GPU gone says so over three lines, without an Xid
# (nv-pci.c of open-gpu-kernel-modules; seen in NVIDIA/NVSentinel#155).
_GONE = re.compile(
    r"^The NVIDIA GPU \S+ \(PCI ID: [^)]*\) installed in this system has fallen off the bus"
)

# What a module says of a GPU that it does not drive (nv-pci.c of open-gpu-kernel-modules; the third
# seen in public logs of 595 and 610 beside Maxwell and Pascal).
_IGNORED = re.compile(
    r"^The NVIDIA GPU (?P<slot>\S+) \(PCI ID: [^)]*\) installed in this system (?:"
    r"(?P<open>requires use of the NVIDIA open kernel modules)|is not supported by open nvidia\.ko)"
    r"|^The (?P<name>NVIDIA .+) GPU installed in this system is supported through the NVIDIA"
    r" (?P<branch>\d{2,4})\.xx Legacy drivers"
)

# The module's own words (open-gpu-kernel-modules #673, #789, #1230), and the kernel's where the
# file of exactly the module's version is not there: an update took it away (#943).
_FIRMWARE = re.compile(r"Cannot initialize GSP firmware|/gsp_\w+\.bin failed with error")


@dataclass(frozen=True)
class ApiMismatch(Value):
    """A client that the module refused: whose library has another version than the module.

    .. code:: python

        ApiMismatch(client="nvidia-smi", pid=812, library="550.107.02", module="550.90.07")
    """

    client: str | None
    pid: int | None
    library: str
    module: str


@dataclass(frozen=True)
class IgnoredGpu(Value):
    """A GPU that the module does not drive, by slot or name, and the module that would:
    ``open``, ``proprietary`` or the last branch that has it (``580``).

    .. code:: python

        IgnoredGpu("0000:02:00.0", wants="open")
    """

    gpu: str
    wants: str


@dataclass(frozen=True)
class NvidiaLogState(Value):
    """Refused clients, GPUs that left the bus (Xid 79, or the probe's own words), GPU firmware that
    failed, GPUs that another module would drive; oldest first.

    .. code:: python

        NvidiaLogState(mismatches=(ApiMismatch(...),),
                       fallen=("Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",))
    """

    mismatches: tuple[ApiMismatch, ...]
    fallen: tuple[str, ...]
    firmware: tuple[str, ...] = ()
    ignored: tuple[IgnoredGpu, ...] = ()


class NvidiaLog(Source[NvidiaLogState]):
    """NVIDIA's lines (NVRM) in the kernel's log of this boot.

    Sources: dmesg(1), else journalctl(1) ``-k``. Needs root where kernel.dmesg_restrict is set, or
    the groups systemd-journal or adm.
    """

    probes = (Probe("nvidia_log.lines", _LINES),)

    @override
    @classmethod
    def parse(cls, sections: Sections) -> NvidiaLogState | Unknown:
        answer = section(sections, "nvidia_log.lines")
        complaint = answer.err.strip()
        if answer.trouble or complaint:
            said = complaint.splitlines()[-1][:200] if complaint else ""
            return answer.trouble or Unknown(f"kernel log: dmesg refused; {said}")
        lines = [line.strip() for line in answer.out.splitlines()]
        joined = [" ".join(" ".join(lines[at : at + 3]).split()) for at in range(len(lines))]
        found = tuple(_mismatch(m) for text in joined if (m := _MISMATCH.match(text)))
        if not found and any(line.startswith("API mismatch:") for line in lines):
            return Unknown("kernel log: an API mismatch whose text was not understood")
        return NvidiaLogState(
            mismatches=found,
            fallen=tuple(line for line in lines if re.match(r"Xid \([^)]*\): 79\b", line))
            + tuple(text for text in joined if _GONE.match(text)),
            firmware=tuple(line for line in lines if _FIRMWARE.search(line)),
            ignored=tuple(
                dict.fromkeys(_ignored(m) for text in joined if (m := _IGNORED.match(text)))
            ),
        )


KernelLog = NvidiaLog  # the name before 0.2


def _mismatch(found: re.Match[str]) -> ApiMismatch:
    pid = int(found["pid"]) if found["pid"] else None
    return ApiMismatch(found["client"], pid, found["library"], found["module"])


def _ignored(found: re.Match[str]) -> IgnoredGpu:
    if found["branch"]:
        return IgnoredGpu(found["name"], found["branch"])
    return IgnoredGpu(found["slot"], "open" if found["open"] else "proprietary")
