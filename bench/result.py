"""What a bench comes to for one rival on one fleet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """The medians of one rival on one fleet.

    Connections, execs and seconds of the host's CPU are per host.
    """

    name: str
    hosts: int
    delay: int
    runs: int
    wall: float
    cpu: float
    memory: float
    connections: float
    execs: float
    host_cpu: float
