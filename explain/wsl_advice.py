"""What to change on Windows' side for a distribution of WSL2: written out, never written there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyinfra_nvml.explain.pasted import Line
from pyinfra_nvml.explain.recognise import recognise
from pyinfra_nvml.facts.cgroup import CgroupState, Mode
from pyinfra_nvml.facts.docker_engine import EngineInfo
from pyinfra_nvml.facts.node import NodeState
from pyinfra_nvml.facts.wsl import WslState
from pyinfra_nvml.model.unknown import Unknown
from pyinfra_nvml.templates import rendered


@dataclass(frozen=True)
class Step:
    """One thing to do, by hand: what, its price, and the file's whole text where it is a file.

    .. code:: python

        Step("on Windows: wsl --update, then wsl --shutdown",
             price="every distribution of this Windows user stops, Docker Desktop too")
    """

    do: str
    price: str
    text: str = ""


@dataclass(frozen=True)
class Advice:
    """What was seen, what the lines of the boot tell, and the steps in their order."""

    seen: str
    boot: tuple[str, ...]
    steps: tuple[Step, ...]


def advice(node: NodeState) -> Advice | str | Unknown:
    """The advice for this node, why it needs none, or what could not be told."""
    wsl = node.wsl
    if wsl is None:
        return "not the Windows Subsystem for Linux: nothing to say"
    if isinstance(wsl, Unknown):
        return Unknown(f"WSL: could not tell ({wsl.reason})")
    if wsl.version == 1:
        return "WSL1 has no GPU and no containers; on Windows: wsl --set-version DISTRIBUTION 2"
    if not wsl.session:
        return "a container on WSL2's kernel: ask the distribution that runs it"
    hierarchy = node.cgroup
    if isinstance(hierarchy, Unknown):
        return Unknown(f"cgroups: could not tell ({hierarchy.reason})")
    return Advice(
        _seen(node, wsl, hierarchy), tuple(_boot(node)), tuple(_steps(node, wsl, hierarchy))
    )


def advice_lines(found: Advice | str | Unknown) -> Iterator[str]:
    """The advice as it is told."""
    if not isinstance(found, Advice):
        yield found.reason if isinstance(found, Unknown) else found
        return
    yield found.seen
    yield from found.boot
    for number, step in enumerate(found.steps, 1):
        yield f"{number}. {step.do}"
        yield f"   price: {step.price}"
        yield from (f"   | {line}" for line in step.text.splitlines())
    if not found.steps:
        yield "nothing to change on Windows' side"


def desktop(node: NodeState) -> bool:
    """Whether the engine is Docker Desktop's, which lives in a distribution of its own."""
    info = node.engine_info
    return isinstance(info, EngineInfo) and info.desktop


def _seen(node: NodeState, wsl: WslState, hierarchy: CgroupState) -> str:
    systemd = "systemd" if hierarchy.systemd else "no systemd"
    engine = "Docker Desktop's engine" if desktop(node) else "Docker here"
    engine = "no Docker" if node.docker_engine is None else engine
    return f"WSL2 {wsl.kernel}, cgroup {hierarchy.mode.value}, {systemd}, {engine}"


def _boot(node: NodeState) -> Iterator[str]:
    """What this boot's lines tell, each kind of line once: telling, or harmless."""
    systemd = node.systemd_manager
    if systemd is None or isinstance(systemd, Unknown):
        return
    for part in (systemd.messages, systemd.containerd):
        if isinstance(part, Unknown):
            yield f"boot: could not tell ({part.reason})"
            continue
        for one in recognise([Line(n, line.text) for n, line in enumerate(part, 1)]):
            yield f"boot: {one.symptom.kind.value}: {one.line.text} ({one.symptom.title})"


def _steps(node: NodeState, wsl: WslState, hierarchy: CgroupState) -> Iterator[Step]:
    if desktop(node):
        yield Step(
            "for the engine: Docker Desktop on Windows, Settings, Docker Engine; it reads no file"
            " of this distribution",
            "Docker Desktop restarts, its containers stop",
        )
    asked = _asks_v1(wsl)
    if asked:
        yield Step(
            "here: /etc/wsl.conf without cgroups=v1",
            "this distribution is on cgroup v2 from its next start on",
            rendered("wsl/wsl.conf", kept=asked),
        )
    if hierarchy.mode is Mode.V2:
        return
    if hierarchy.systemd and node.docker_engine is not None and not desktop(node):
        yield Step(
            'first, here: "exec-opts": ["native.cgroupdriver=cgroupfs"] in daemon.json, unless it'
            " names the driver already; on cgroup v2 with systemd, Docker takes the driver systemd"
            " by itself, and containers with --gpus lose the GPU at a daemon-reload (after the"
            " move deploys/fix_cgroup.py does the same)",
            "none now: Docker reads it at its next start",
        )
    yield Step(
        "on Windows: wsl --update, then wsl --shutdown; look again",
        "every distribution of this Windows user stops, Docker Desktop too",
    )
    yield Step(
        "on Windows, only if it is still not v2: put this in %UserProfile%\\.wslconfig, then"
        " wsl --shutdown",
        "cgroup v1 is gone for every distribution of this Windows user: one with an old systemd"
        " or Docker may not start; a company's policy may forbid kernelCommandLine; old builds"
        " of WSL did not start with it at all (0x8000ffff, microsoft/WSL#8981, #9120)",
        rendered("wsl/wslconfig", words=["cgroup_no_v1=all"]),
    )


def _asks_v1(wsl: WslState) -> list[str]:
    """The lines of wsl.conf without the one that asks for cgroup v1; none where none does."""
    text = wsl.conf if isinstance(wsl.conf, str) else ""
    within, kept, found = "", [], False
    for line in text.splitlines():
        if header := re.match(r"\s*\[\s*([^\]]*?)\s*\]", line):
            within = header[1].lower()
        asks = within == "automount" and re.match(r"\s*cgroups\s*=\s*v1\s*(#.*)?$", line, re.I)
        found = found or bool(asks)
        kept += [] if asks else [line]
    return kept if found else []
