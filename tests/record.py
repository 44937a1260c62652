"""Records a node: its answer to the one exec, with what is private replaced.

make record HOST=gpu7 NAME=my_node ORIGIN='Debian 13, Docker 26.1.5, H100'

or, where only a shell is to be had, `python -m tests.record script` there, and here
`python -m tests.record save NAME ORIGIN <ANSWER`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.node_script import limit
from pyinfra_nvml.facts.probe import read_frame
from tests.private import clean, private
from tests.recordings import NODES

# As root where that asks for no password; else as the user, who sees less.
_REMOTE = (
    '[ "$(id -u)" = 0 ] && exec sh -s; sudo -n true 2>/dev/null && exec sudo -n sh -s; exec sh -s'
)
_SLACK = 60


def answer(ssh: Sequence[str]) -> list[str]:
    """What the node behind this ssh command line answers to the one exec."""
    done = subprocess.run(
        [*ssh, _REMOTE],
        input=Node().command().encode(),
        capture_output=True,
        timeout=limit(Node.probes) + _SLACK,
    )
    if done.returncode == 255:
        raise SystemExit(f"ssh: {done.stderr.decode(errors='replace').strip()}, want a connection")
    return done.stdout.decode(errors="replace").splitlines()


def save(
    lines: Sequence[str],
    name: str,
    origin: str,
    *,
    hosts: Collection[str] = (),
    keep: Collection[str] = (),
    place: Path = NODES,
) -> Path:
    """Keep the cleaned answer as a node of the recorded fleet; refuses one that is not whole."""
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise SystemExit(f"NAME: saw {name!r}, want small letters, digits and underscores")
    if f"@end {len(read_frame(lines))}" not in lines:
        raise SystemExit("recording: saw a part of the probes, want the whole answer of a node")
    start = next(at for at, line in enumerate(lines) if line.startswith("@node "))
    kept = clean(lines[start:], hosts, keep)
    if slipped := private("\n".join(kept)) - set(keep):
        raise SystemExit(f"recording: saw {', '.join(sorted(slipped))}, want it replaced")
    path = place / name / "recording.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"# seen on {origin.removeprefix('seen on ')}", *kept]) + "\n")
    return path


def main(words: list[str]) -> int:
    """``host HOST NAME ORIGIN`` records one; ``script`` and ``save NAME ORIGIN`` are its halves."""
    if words == ["script"]:
        sys.stdout.write(Node().command())
        return 0
    if len(words) == 4 and words[0] == "host" and all(words):
        host = words[1].rpartition("@")[2]
        path = save(answer(["ssh", words[1]]), words[2], words[3], hosts=[host])
    elif len(words) == 3 and words[0] == "save":
        path = save(sys.stdin.read().splitlines(), words[1], words[2])
    else:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    print(f"written: {path}; read it before you commit it")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
