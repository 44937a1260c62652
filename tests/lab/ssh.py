"""How a test speaks to a node: the ssh client, with a key and a known host of this run's own."""

import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.lab.command import tool
from tests.lab.errors import LabError


@dataclass(frozen=True)
class Ran:
    """What a command on a node did: exit status (255: ssh itself failed), and its two outputs."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Door:
    """A node's sshd, as seen from this machine."""

    address: str
    key: Path
    known_hosts: Path

    def argv(self, user: str) -> list[str]:
        """The ssh client's command line up to the remote command."""
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": "10",
            "IdentitiesOnly": "yes",
            # Half of the time of a short command went into the post-quantum key exchange.
            "KexAlgorithms": "curve25519-sha256",
            "LogLevel": "ERROR",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": str(self.known_hosts),
        }
        flags = [flag for name, value in options.items() for flag in ("-o", f"{name}={value}")]
        return ["ssh", "-F", "none", "-i", str(self.key), *flags, f"{user}@{self.address}"]

    def answers(self) -> bool:
        """Whether an sshd speaks at the address now."""
        try:
            with socket.create_connection((self.address, 22), timeout=0.5) as wire:
                return wire.recv(4) == b"SSH-"
        except OSError:
            return False

    def run(
        self, command: str, *, user: str = "root", stdin: str | bytes = "", limit: float = 60
    ) -> Ran:
        """Run a shell command on the node."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        argv = [*self.argv(user), command]
        try:
            done = subprocess.run(argv, input=given, capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise LabError(f"{self.address}: `{command}` not done after {limit:g} s") from None
        return Ran(done.returncode, _text(done.stdout), _text(done.stderr))


def make_key(path: Path) -> str:
    """Make an ed25519 key without a passphrase; returns its public half."""
    comment = "pyinfra-nvml-lab"
    tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path))
    return path.with_name(f"{path.name}.pub").read_text()


def _text(output: bytes) -> str:
    return output.decode(errors="replace")
