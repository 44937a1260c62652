"""Measures the audit against other ways to ask a fleet, and writes docs/performance.md.

    make bench
    python -m bench --rivals VENV --own VENV --hosts 1,10,100,500

The first holds ansible-core and parallel-ssh, the second what ``make audit`` installs. Ratios in
one run on one machine, never a test.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from bench import rivals
from bench.hosts import PORT, Hosts, hosts
from bench.measure import Run, measured
from bench.node_cpu import node_seconds
from bench.page import write
from bench.result import Result
from bench.rivals import Job, Rival

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
    parser.add_argument("--own", required=True, help="a venv with requirements.lock")
    parser.add_argument("--hosts", default=",".join(map(str, FLEETS)))
    parser.add_argument("--only", default="", help="names of rivals, comma-separated")
    parser.add_argument("--delays", default="0,50", help="round trips in milliseconds")
    parser.add_argument("--out", default="docs/performance.md")
    parser.add_argument("--results", default="results/bench.json", help="the numbers themselves")
    return parser.parse_args()


def _all(asked: argparse.Namespace, place: Path) -> Iterator[Result]:
    counts = [int(count) for count in asked.hosts.split(",")]
    with hosts(_made(place / "sshd"), max(counts)) as fleet:
        for delay in [int(delay) for delay in asked.delays.split(",")]:
            with _wire(fleet, delay) as port:
                for count in counts:
                    some = replace(fleet, names=fleet.names[:count], port=port)
                    yield from _fleet(some, delay, asked, place)


def _fleet(fleet: Hosts, delay: int, asked: argparse.Namespace, place: Path) -> Iterator[Result]:
    only = [name for name in asked.only.split(",") if name]
    takes: list[Take] = []
    for rival in _rivals(Path(asked.rivals) / "bin", Path(asked.own) / "bin" / "pyinfra"):
        left_out = only and rival.name not in only
        # The slow ones are asked on the short wire alone; 100 hosts show what a long one does.
        long_wire = delay and (rival.most < max(FLEETS) or len(fleet.names) > 100)
        fits = rival.least <= len(fleet.names) <= rival.most
        if left_out or not fits or long_wire:
            continue
        home = _made(place / rival.name.replace(" ", "-"))
        takes.append(Take(rival, rival.job(fleet, home), home / "log"))
    # In turns: a machine that slows down in the middle does so for all of them.
    for turn in range(max((take.times(len(fleet.names)) for take in takes), default=0)):
        for take in takes:
            if turn < take.times(len(fleet.names)):
                take.once(fleet, delay)
    yield from (take.result(len(fleet.names), delay) for take in takes)


@dataclass
class Take:
    """A rival's runs on one fleet, and what its hosts counted."""

    rival: Rival
    job: Job
    log: Path
    runs: list[Run] = field(default_factory=list)
    connections: int = 0
    execs: int = 0
    host_cpu: list[float] = field(default_factory=list)

    def times(self, hosts: int) -> int:
        return self.rival.runs if hosts <= 100 else (self.rival.runs + 1) // 2

    def once(self, fleet: Hosts, delay: int) -> None:
        fleet.forget()
        before = fleet.cpu()
        run = measured(self.job.argv, self.log, self.job.stdin, {**self.job.env})
        self.runs.append(run)
        self.connections += fleet.count("connections")
        self.execs += fleet.count("execs")
        if self.job.leaves:
            subprocess.run(["pkill", "-f", self.job.leaves], check=False)
        # sshd counts a login's processes once they have ended.
        time.sleep(1)
        self.host_cpu.append((fleet.cpu() - before) / len(fleet.names))
        named = f"{self.rival.name}, {len(fleet.names)} hosts, {delay} ms"
        print(f"{named}: {run}", file=sys.stderr)
        if run.code:
            sys.exit(f"bench: {named}: saw exit code {run.code}, want 0: {self.log}")

    def result(self, hosts: int, delay: int) -> Result:
        return Result(
            self.rival.name,
            hosts,
            delay,
            len(self.runs),
            statistics.median(run.wall for run in self.runs),
            statistics.median(run.cpu for run in self.runs),
            statistics.median(run.memory for run in self.runs),
            self.connections / (hosts * len(self.runs)),
            self.execs / (hosts * len(self.runs)),
            statistics.median(self.host_cpu),
        )


def _rivals(bin_directory: Path, pyinfra: Path) -> list[Rival]:
    python = str(bin_directory / "python")
    return [
        Rival("parallel-ssh", partial(rivals.parallel_ssh, python=python), runs=5),
        Rival("audit", partial(rivals.audit, pyinfra=pyinfra), runs=5),
        Rival(
            "audit in two processes",
            partial(rivals.audit_halves, pyinfra=pyinfra),
            runs=2,
            least=max(FLEETS),
        ),
        Rival("dry run of the fix", partial(rivals.dry_fix, pyinfra=pyinfra)),
        Rival("ssh under xargs", rivals.xargs, runs=2),
        Rival(
            "pyinfra eight facts",
            partial(rivals.separate_facts, pyinfra=pyinfra),
            most=100,
            runs=2,
        ),
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


@contextmanager
def _wire(fleet: Hosts, delay: int) -> Iterator[int]:
    """The port behind a wire of this round trip; none for 0."""
    if not delay:
        yield fleet.port
        return
    words: Sequence[str] = [str(DELAYED_PORT), str(fleet.port), str(delay)]
    wire = subprocess.Popen([sys.executable, "-m", "bench.delay", *words])
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
