"""What has to hold on a node after a restart of Docker, done or undone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from pyinfra_nvml.operations.restart_result import Return
from tests.lab.errors import LabError
from tests.lab.remedy import PATH, Remedy

BEFORE = b'{"log-level": "warn"}'


def ways(remedy: Remedy) -> dict[str, Return]:
    return {container.name: container.how for container in remedy.last().containers}


def cured(remedy: Remedy) -> None:
    """The driver, every key, every container that should run, nothing left, nothing more to do."""
    assert remedy.driver() == "cgroupfs"
    assert {"policy", "plain"} <= remedy.running()
    held = json.loads(remedy.node.read(PATH))
    assert held == {"log-level": "warn", "exec-opts": ["native.cgroupdriver=cgroupfs"]}
    assert remedy.left_over() == []
    again = remedy.run()
    assert again.code == 0
    assert again.text.count("No changes") == 2, again.text


def as_before(remedy: Remedy) -> None:
    """Nothing changed in the end, and the engine is up."""
    assert remedy.driver() == "systemd"
    assert remedy.node.read(PATH) == BEFORE
    assert {"policy", "plain"} <= remedy.running()
    assert remedy.left_over() == []


def until(holds: Callable[[], bool], limit: float = 60) -> None:
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end:
            raise LabError("it did not happen in time")
        time.sleep(0.2)
