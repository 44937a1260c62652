"""docs/performance.md, from the results of one run."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from bench.result import Result

_HEAD = """\
# Performance

Ratios on one machine in one run; written by `make bench`. The hosts are one sshd on loopback
addresses of the same machine, each answering the node script with what a real node printed: a
fleet's nodes spend their own CPU, so what is measured here is the controller. "audit" is the whole
command as an operator types it: start-up, connections, judging, terminal, JSON and HTML report.
parallel-ssh (libssh2), ssh under xargs and Ansible fetch the same answers and judge nothing.
"""

_COLUMNS = (
    *("hosts", "round trip", "", "wall", "x", "CPU", "x", "memory", "x"),
    *("connections", "execs", "host", "runs"),
)
_TRIED = Path(__file__).with_name("tried.md")


def write(path: Path, results: Sequence[Result], node: float) -> None:
    """The machine, the numbers, each goal met or not, and what was tried."""
    parts = [_HEAD, _machine(), _numbers(results), _goals(results, node), _TRIED.read_text()]
    path.write_text("\n".join(parts))


def _machine() -> str:
    cpus = os.cpu_count()
    named = ", ".join(f"{name} {version(name)}" for name in ("pyinfra", "paramiko", "gevent"))
    return (
        f"{cpus} CPU cores, Linux {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}, {named}.\n"
    )


def _numbers(results: Sequence[Result]) -> str:
    lines = [
        "## What was measured",
        "",
        "Medians. Wall and CPU in seconds, memory in MiB (all processes of the controller at their",
        "peak); per host: connections, execs, and milliseconds of CPU there for login and answer.",
        "x is the column before it by that of the audit.",
        "",
        "| " + " | ".join(_COLUMNS) + " |",
        "| ---: | ---: | --- " + "| ---: " * (len(_COLUMNS) - 3) + "|",
    ]
    for result in results:
        audit = _of(results, "audit", result.hosts, result.delay)
        by = partial(_by, result, audit)
        lines.append(
            f"| {result.hosts} | {result.delay} ms | {result.name} | {result.wall:.2f} "
            f"| {by('wall')} | {result.cpu:.2f} | {by('cpu')} | {result.memory:.0f} "
            f"| {by('memory')} | {result.connections:.2f} | {result.execs:.2f} "
            f"| {1000 * result.host_cpu:.0f} | {result.runs} |"
        )
    return "\n".join([*lines, ""])


def _by(result: Result, audit: Result | None, what: str) -> str:
    return f"{getattr(result, what) / getattr(audit, what):.2f}" if audit else "-"


def _of(results: Sequence[Result], name: str, hosts: int, delay: int = 0) -> Result | None:
    found = [r for r in results if (r.name, r.hosts, r.delay) == (name, hosts, delay)]
    return found[0] if found else None


def _goals(results: Sequence[Result], node: float) -> str:
    lines = ["## The goals", "", "| goal | measured | met |", "| --- | ---: | --- |"]
    for goal, measured, met in _each(results, node):
        lines.append(f"| {goal} | {measured} | {'yes' if met else '**no**'} |")
    return "\n".join([*lines, ""])


def _each(results: Sequence[Result], node: float) -> Iterator[tuple[str, str, bool]]:
    audits = [result for result in results if result.name == "audit"]
    if audits:
        seen = {each for audit in audits for each in (audit.connections, audit.execs)}
        told = " to ".join(f"{each:.2f}" for each in sorted({min(seen), max(seen)}))
        yield "one connection and one exec per host", told, seen == {1.0}
    for other, hosts, least in (
        ("ssh under xargs", 100, 1 / 0.5),
        ("ansible one task", 100, 9),
        ("ansible eight tasks", 100, 40),
    ):
        yield from _faster(results, other, hosts, least)
    for hosts in (100, 500):
        yield from _ratio(results, "wall", hosts, 1.2)
        yield from _ratio(results, "cpu", hosts, 2.5)
    few, many = _of(results, "audit", 100), _of(results, "audit", 500)
    if few and many:
        growth = many.wall / few.wall
        yield "500 hosts in at most 5.5 times the time of 100", f"{growth:.2f}", growth <= 5.5
        more = (many.memory - few.memory) / (many.hosts - few.hosts)
        yield "under 0.2 MB of memory more per host", f"{more:.3f}", more < 0.2
    yield "the node script under 0.5 s of CPU on this machine", f"{node:.2f} s", node < 0.5


def _faster(
    results: Sequence[Result], other: str, hosts: int, least: float
) -> Iterator[tuple[str, str, bool]]:
    audit, theirs = _of(results, "audit", hosts), _of(results, other, hosts)
    if audit and theirs:
        ratio = theirs.wall / audit.wall
        yield f"{hosts} hosts: {least:g} times faster than {other}", f"{ratio:.1f}", ratio >= least


def _ratio(
    results: Sequence[Result], what: str, hosts: int, most: float
) -> Iterator[tuple[str, str, bool]]:
    audit, limit = _of(results, "audit", hosts), _of(results, "parallel-ssh", hosts)
    if audit and limit:
        ratio = getattr(audit, what) / getattr(limit, what)
        told = "wall" if what == "wall" else "CPU of the controller"
        yield (
            f"{hosts} hosts: {told} within {most} times of parallel-ssh",
            f"{ratio:.2f}",
            ratio <= most,
        )
