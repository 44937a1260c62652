"""Records the lab's nodes again, in the states that the recorded fleet and the cases stand on.

.venv/bin/python -m tests.lab.record && .venv/bin/python -m tests.made_up

The made up nodes stand on these.
"""

from __future__ import annotations

import platform

from tests.lab import containers, triggers
from tests.lab.node import Node
from tests.lab.session import Lab, open_lab
from tests.record import answer, save

_STAND_IN = "6.12.57-lab"
# Made up by the lab, and told apart by the cases.
_NAMES = {"bookworm", "trixie", "forky", "legacy", "trainer", "notebook", "web", "lab-busybox"}


def record(node: Node, name: str, origin: str, user: str = "root") -> None:
    """Run the one exec on the node and keep what it printed, with what is private replaced."""
    # The lab's nodes share the kernel of the machine that they run on.
    lines = [line.replace(platform.release(), _STAND_IN) for line in answer(node.door.argv(user))]
    print(f"written: {save(lines, name, origin, keep=_NAMES)}")


def states(lab: Lab) -> None:
    """Every state, each on the node that shows it."""
    trixie, bookworm, legacy = lab.nodes(["trixie", "bookworm", "legacy"])
    for node in (trixie, bookworm):
        containers.start(node, "trainer", "gpus", "--restart", "unless-stopped")
        containers.start(node, "notebook", "gpus")
        containers.start(node, "web", "none", "--restart", "always")
    debian13 = "Debian 13, systemd 257, Docker 26.1.5, lab"
    record(
        trixie, "trixie_exposed", f"{debian13}: two containers by the legacy hook, none lost yet"
    )
    record(trixie, "trixie_no_root", f"{debian13}: a user without root and docker", "operator")
    triggers.daemon_reload(bookworm)
    record(
        bookworm,
        "bookworm_lost",
        "Debian 12, systemd 252, Docker 20.10.24, lab: after a daemon-reload",
    )
    forky = lab.fresh("forky", files=containers.CGROUPFS_FILES)
    for node in (forky, legacy):
        containers.start(node, "trainer", "gpus")
    record(forky, "forky_cgroupfs", "Debian forky, systemd 262, Docker 28.5.2, lab: cgroupfs")
    record(legacy, "legacy_v1", "Debian 12, cgroup v1, systemd 252, Docker 20.10.24, lab")


if __name__ == "__main__":
    with open_lab() as opened:
        states(opened)
