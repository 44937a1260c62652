"""Measures the audit against other ways to ask a fleet, and writes docs/performance.md.

    make bench
    python -m bench --rivals VENV --hosts 1,10,100,500

``VENV`` holds ansible-core and parallel-ssh. Ratios in one run on one machine, never a test.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from bench import rivals
from bench.hosts import PORT, Hosts, hosts
from bench.measure import measured
from bench.node_cpu import node_seconds
from bench.page import write
from bench.result import Result
from bench.rivals import Rival

DELAYED_PORT = PORT + 1
FLEETS = (1, 10, 100, 500)


def main() -> None:
    """Runs every rival on every fleet, one after the other."""
    asked = _arguments()
    node = node_seconds()
    page, numbers = Path(asked.out), Path(asked.results)
    numbers.parent.mkdir(exist_ok=True)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="bench.") as place:
        for result in _all(asked, Path(place)):
            # After each: a run that is ended early has told what it measured.
            results.append(result)
            numbers.write_text(json.dumps([asdict(result) for result in results], indent=1))
            write(page, results, node)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--rivals", required=True, help="a venv with ansible-core, parallel-ssh")
    parser.add_argument("--hosts", default=",".join(map(str, FLEETS)))
    parser.add_argument("--only", default="", help="names of rivals, comma-separated")
    parser.add_argument("--delays", default="0,50", help="round trips in milliseconds")
    parser.add_argument("--out", default="docs/performance.md")
    parser.add_argument("--results", default="reports/bench.json", help="the numbers themselves")
    return parser.parse_args()


def _all(asked: argparse.Namespace, place: Path) -> Iterator[Result]:
    counts = [int(count) for count in asked.hosts.split(",")]
    with hosts(_made(place / "sshd"), max(counts)) as fleet:
        for delay in [int(delay) for delay in asked.delays.split(",")]:
            with _wire(fleet, delay) as port:
                for count in counts:
                    some = Hosts(fleet.home, fleet.names[:count], port)
                    yield from _fleet(some, delay, asked, place)


def _fleet(fleet: Hosts, delay: int, asked: argparse.Namespace, place: Path) -> Iterator[Result]:
    only = [name for name in asked.only.split(",") if name]
    for rival in _rivals(Path(asked.rivals) / "bin"):
        left_out = only and rival.name not in only
        # The slow ones are asked on the short wire alone; 100 hosts show what a long one does.
        long_wire = delay and (rival.most < max(FLEETS) or len(fleet.names) > 100)
        if left_out or len(fleet.names) > rival.most or long_wire:
            continue
        yield _measure(rival, fleet, delay, _made(place / rival.name.replace(" ", "-")))


def _rivals(bin_directory: Path) -> list[Rival]:
    python = str(bin_directory / "python")
    return [
        Rival("parallel-ssh", partial(rivals.parallel_ssh, python=python)),
        Rival("audit", rivals.audit),
        Rival("dry run of the fix", rivals.dry_fix),
        Rival("ssh under xargs", rivals.xargs, runs=2),
        Rival("pyinfra eight facts", rivals.separate_facts, most=100, runs=2),
        Rival(
            "ansible one task",
            partial(rivals.ansible_one_task, bin_directory=bin_directory),
            most=100,
            runs=1,
        ),
        Rival(
            "ansible eight tasks",
            partial(rivals.ansible_tasks, bin_directory=bin_directory),
            most=100,
            runs=1,
        ),
    ]


def _measure(rival: Rival, fleet: Hosts, delay: int, home: Path) -> Result:
    job = rival.job(fleet, home)
    fleet.forget()
    runs = []
    for _ in range(rival.runs if len(fleet.names) <= 100 else (rival.runs + 1) // 2):
        runs.append(measured(job.argv, home / "log", job.stdin, {**job.env}))
        print(f"{rival.name}, {len(fleet.names)} hosts, {delay} ms: {runs[-1]}", file=sys.stderr)
    times = len(fleet.names) * len(runs)
    return Result(
        rival.name,
        len(fleet.names),
        delay,
        len(runs),
        statistics.median(run.wall for run in runs),
        statistics.median(run.cpu for run in runs),
        statistics.median(run.memory for run in runs),
        fleet.count("connections") / times,
        fleet.count("execs") / times,
        tuple(run.code for run in runs),
    )


@contextmanager
def _wire(fleet: Hosts, delay: int) -> Iterator[int]:
    """The port behind a wire of this round trip; none for 0."""
    if not delay:
        yield fleet.port
        return
    words: Sequence[str] = [str(DELAYED_PORT), str(fleet.port), str(delay)]
    wire = subprocess.Popen([sys.executable, "-m", "bench.delay", *words])
    known = fleet.known.read_text().replace(f"]:{fleet.port} ", f"]:{DELAYED_PORT} ")
    with fleet.known.open("a") as file:
        file.write(known)
    try:
        yield DELAYED_PORT
    finally:
        wire.terminate()
        wire.wait()


def _made(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


if __name__ == "__main__":
    main()
