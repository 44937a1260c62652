"""Nodes to play with: `python -m tests.lab up [NODE ...]`, and `python -m tests.lab down`."""

import argparse
import shutil
import sys
from functools import partial
from pathlib import Path

from tests.lab import inventory, requirements, rootfs
from tests.lab import run as runs
from tests.lab.catalogue import KINDS, USUAL
from tests.lab.errors import CannotRun, LabError
from tests.lab.image import NAME as IMAGE
from tests.lab.node import Node
from tests.lab.parallel import side_by_side
from tests.lab.session import Lab, kind_of

USE = """\
{nodes}
inventory: {inventory}
audit:     make audit INVENTORY={inventory}
the fault: {shell} '{fault}'
a cure:    .venv/bin/pyinfra {inventory} deploys/fix_cgroup.py
a shell:   {shell}
the end:   make lab-down
"""

FAULT = (
    f"docker run --detach --name trainer --gpus all {IMAGE}; systemctl daemon-reload; "
    "docker exec trainer head -c1 /dev/nvidiactl"
)
"""Ends in "Operation not permitted" on bookworm, forky and legacy (docs/lab.md)."""


def main(words: list[str]) -> int:
    """Do what the command line asks; a mistake is one line on standard error."""
    asked = _parser().parse_args(words)
    try:
        if lacking := requirements.missing():
            raise CannotRun(lacking)
        if asked.do == "up":
            _up(asked.nodes or list(USUAL))
        else:
            _down(asked.purge)
    except LabError as reason:
        sys.stderr.write(f"{reason}\n")
        return 1
    return 0


def _up(names: list[str]) -> None:
    """Boot the nodes that are not up yet; they stay when this process ends."""
    for name in names:
        kind_of(name)
    made = "the first time their root file systems are made, which takes minutes"
    sys.stderr.write(f"booting {', '.join(names)}: a minute; {made}\n")
    runs.clear_leftovers()
    lab = Lab(runs.begin(runs.UP))
    side_by_side([partial(lab.node, name) for name in dict.fromkeys(names)])
    nodes = lab.running()
    path = inventory.write(lab.run.place / "inventory.py", nodes)
    sys.stdout.write(_use(nodes, path))


def _use(nodes: list[Node], path: Path) -> str:
    lines = "\n".join(f"{node.name:10} {node.address}" for node in nodes)
    shell = " ".join(nodes[0].door.argv("root"))
    return USE.format(nodes=lines, inventory=path, shell=shell, fault=FAULT)


def _down(purge: bool) -> None:
    """End what `up` made and what killed runs left; a run that lives is left alone, and named."""
    ended = ["up"] if runs.end_up() else []
    ended += runs.clear_leftovers()
    if purge:
        shutil.rmtree(rootfs.cache())
    runs.forget_state()
    sys.stdout.write(f"ended: {', '.join(ended) or 'nothing'}\n")
    for name, pid in runs.living().items():
        sys.stdout.write(f"left: {name}, of process {pid}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    commands = parser.add_subparsers(dest="do", required=True)
    up = commands.add_parser("up", help="boot nodes; they stay up")
    up.add_argument("nodes", nargs="*", metavar="NODE", help=", ".join(KINDS))
    down = commands.add_parser("down", help="end them, and what killed runs left")
    down.add_argument(
        "--purge", action="store_true", help="remove the cached root file systems too"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
