"""Makes the recordings of nodes that nobody has in a lab, from one that was seen there.

    python -m tests.made_up

Each is a folder of tests/nodes with an ``answers.yaml``: where it comes from, which recording it is
based on, the answers that differ, and the verdict expected of the whole node. The recording is
written from it, so that a new probe is in all of them after the lab's nodes were recorded anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from facts.node import Node
from tests import recordings

MADE_UP = sorted(recordings.NODES.glob("*/answers.yaml"))


def case(path: Path) -> dict[str, Any]:
    """What an ``answers.yaml`` says."""
    said: dict[str, Any] = yaml.safe_load(path.read_text())
    return said


def text(path: Path) -> str:
    """The recording that these answers make."""
    said = case(path)
    answers = recordings.sections(said["base"], said["answers"])
    ordered = {probe.name: answers[probe.name] for probe in Node.probes}
    return "\n".join([f"# made up after {said['origin']}", *recordings.frames(ordered)]) + "\n"


def recording(path: Path) -> Path:
    return path.with_name("recording.txt")


if __name__ == "__main__":
    for answers in MADE_UP:
        recording(answers).write_text(text(answers))
        print(f"written: {recording(answers)}")
