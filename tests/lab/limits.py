"""What many nodes on one machine need of its kernel, and the value that it had before.

Every systemd, dockerd and containerd of every node takes inotify instances, and all nodes' root is
one user to the kernel: with the usual 128 for a user (inotify(7)), the ninth or tenth node hangs in
the middle of its boot, or a dockerd dies.
"""

from pathlib import Path

INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
WANTED = 2048
_BEFORE = "inotify"


def lift(state: Path) -> None:
    """Allow enough, and note what was allowed before; once however many runs there are."""
    before = int(INSTANCES.read_text())
    if before < WANTED:
        (state / _BEFORE).write_text(f"{before}\n")
        INSTANCES.write_text(f"{WANTED}\n")


def put_back(state: Path) -> None:
    """Allow what was allowed before the first run."""
    noted = state / _BEFORE
    if noted.exists():
        INSTANCES.write_text(noted.read_text())
        noted.unlink()
