"""A node in a few facts, turned into the answers that its tools would print.

A case from a public thread names versions and settings, not whole outputs. ``answers`` writes them
in the formats of the recorded nodes (docker info's JSON, ``systemctl show``, modinfo, pieces of OCI
specs), so that the parsers and every check judge them like any other node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.described import containers, docker, driver, kubernetes, system

Answers = dict[str, dict[str, Any]]

PARTS: dict[str, Callable[[Any, Mapping[str, Any]], Answers]] = {
    "system": system.answers,
    "docker": docker.answers,
    "daemon_json": docker.daemon_json,
    "toolkit": docker.toolkit,
    "driver": driver.answers,
    "containers": containers.answers,
    "kubelet": kubernetes.answers,
}
"""The parts of a case's ``node``; what is not named stays as the base was recorded."""


def answers(node: Mapping[str, Any]) -> Answers:
    """The answers of a described node, those of its daemons included."""
    if unknown := set(node) - set(PARTS):
        raise KeyError(f"case: saw {sorted(unknown)}, want some of {sorted(PARTS)}")
    found: Answers = {}
    for part, write in PARTS.items():
        if part in node:
            found |= write(node[part], node)
    if "docker" in node or "kubelet" in node:
        found["daemons.processes"] = kubernetes.processes(node)
    return found
