"""Runs the node's scripts on this machine: each shell, in a directory of the test's own."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SHELLS = {"dash": ["dash"], "bash": ["bash"], "busybox": ["busybox", "sh"]}


def stand_in(folder: Path, name: str, body: str) -> None:
    """A program of this name, as a sh script with this body."""
    path = folder / name
    # Its applet stands there as a link: written to, it would change this machine's busybox.
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@dataclass
class Sandbox:
    """A node's file system in small: /etc/docker, a state directory, programs of its own."""

    root: Path
    shell: str
    bin: Path = field(init=False)
    etc: Path = field(init=False)
    state: Path = field(init=False)

    def __post_init__(self) -> None:
        self.bin, self.etc = self.root / "bin", self.root / "etc"
        self.state = self.root / "state"
        self.bin.mkdir()
        self.etc.mkdir()
        if self.shell == "busybox":
            # Its own cp, stat, sync ... before the coreutils of this machine.
            busybox = str(shutil.which("busybox"))
            subprocess.run([busybox, "--install", "-s", self.bin], check=True)

    def with_state(self) -> Sandbox:
        """Itself, with the state directory as open_state (operations/node/state.sh) makes it."""
        self.state.mkdir(mode=0o700)
        (self.state / "backups").mkdir()
        (self.state / "results").mkdir()
        return self

    def run(
        self, source: str, *arguments: str, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """This script under the sandbox's shell, with its programs first on the PATH."""
        return subprocess.run(
            [*SHELLS[self.shell], "-c", source, "pyinfra-nvml", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"},
        )

    def journal(self) -> list[str]:
        """What the node keeps of what was done, without the times."""
        path = self.state / "journal"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.partition(" ")[2] for line in lines]


def payload(before: bytes | None, after: bytes) -> str:
    """The standard input of the write: what was read, and the new file."""
    old = "absent" if before is None else hashlib.sha256(before).hexdigest()
    new = hashlib.sha256(after).hexdigest()
    return f"{old}\n{new}\n{base64.encodebytes(after).decode()}"
