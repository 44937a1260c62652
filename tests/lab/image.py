"""The image that a node's containers are made of: a static busybox, imported without a registry."""

import io
import shlex
import subprocess
import tarfile
from functools import lru_cache
from pathlib import Path

from tests.lab.node import Node

NAME = "lab-busybox"
# A PID 1 that ends at once on SIGTERM: `docker restart` waits ten seconds for one that does not.
COMMAND = """CMD ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"]"""


def put_on(node: Node, root: Path) -> None:
    """Import the image on a node; `root` is the root file system whose busybox it gets."""
    tar = archive(root / "bin/busybox")
    node.sh(f"docker import --change {shlex.quote(COMMAND)} - {NAME}", stdin=tar, limit=60)


@lru_cache
def archive(busybox: Path) -> bytes:
    """A tar of a root with busybox under all of its names."""
    listed = subprocess.run([str(busybox), "--list"], capture_output=True, text=True, check=True)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("bin", "tmp", "etc"):
            tar.addfile(_entry(name, tarfile.DIRTYPE, 0o755))
        program = _entry("bin/busybox", tarfile.REGTYPE, 0o755)
        program.size = busybox.stat().st_size
        tar.addfile(program, io.BytesIO(busybox.read_bytes()))
        for applet in listed.stdout.split():
            if applet != "busybox":
                link = _entry(f"bin/{applet}", tarfile.SYMTYPE, 0o777)
                link.linkname = "busybox"
                tar.addfile(link)
    return buffer.getvalue()


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = kind, mode
    return entry
