"""Makes the recordings of nodes that nobody has in a lab, from one that was seen there.

    python -m tests.made_up

Each is a folder of tests/nodes with an ``answers.yaml``: where it comes from, the node that it is
based on, what differs (``node``: in a few facts, tests/described; ``answers``: single answers), and
the verdict expected of the whole node. The recording is written from it: it has a new probe once
the node that it is based on was recorded with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from pyinfra_nvml.facts.node import Node
from pyinfra_nvml.facts.probe import Sections
from tests import described, recordings

MADE_UP = sorted(recordings.NODES.glob("*/answers.yaml"))


def case(path: Path) -> dict[str, Any]:
    """What an ``answers.yaml`` says."""
    said: dict[str, Any] = yaml.safe_load(path.read_text())
    return said


def answers(name: str) -> Sections:
    """The answers of this node: as recorded, or of one that is made up, as its file makes them."""
    path = recordings.NODES / name / "answers.yaml"
    if not path.exists():
        return recordings.sections(name)
    said = case(path)
    differ = described.answers(said.get("node", {})) | said.get("answers", {})
    return recordings.replaced(answers(said["base"]), differ)


def text(path: Path) -> str:
    """The recording that these answers make."""
    said = case(path)
    found = answers(path.parent.name)
    ordered = {probe.name: found[probe.name] for probe in Node.probes}
    return "\n".join([f"# made up after {said['origin']}", *recordings.frames(ordered)]) + "\n"


def recording(path: Path) -> Path:
    return path.with_name("recording.txt")


if __name__ == "__main__":
    for file in MADE_UP:
        recording(file).write_text(text(file))
        print(f"written: {recording(file)}")
